// Compiles WGSL with Dawn's Tint on a device that has every feature and computes nothing, and prints the errors.
import fs from "node:fs";
import {create} from "webgpu";

const gpu = create(["backend=null", "enable-dawn-features=allow_unsafe_apis"]);
const adapter = await gpu.requestAdapter();
const device = await adapter.requestDevice({requiredFeatures: ["shader-f16", "subgroups", "subgroup-size-control"]});
const found = [];
for (const [name, code] of JSON.parse(fs.readFileSync(process.argv[2], "utf-8"))) {
  device.pushErrorScope("validation");
  const info = await device.createShaderModule({code}).getCompilationInfo();
  await device.popErrorScope();
  for (const message of info.messages) {
    if (message.type === "error") found.push(`${name}, line ${message.lineNum}: ${message.message}`);
  }
}
process.stdout.write(JSON.stringify(found), () => process.exit(0));
