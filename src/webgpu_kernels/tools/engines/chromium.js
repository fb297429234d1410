/* What the chromium engine's page does beside runner.js: fetch a job's bytes, run it, post its outputs. */
"use strict";

globalThis.Engine = (() => {
  let session = null;

  async function opened() {
    if (!session || session.lost) session = await WebGPUKernels.open();
    return session;
  }

  /* Answers {answer}, or {failure: {kind, message, details}} for what WebGPU refuses. */
  async function guarded(work) {
    try {
      return {answer: await work()};
    } catch (error) {
      if (!(error instanceof WebGPUKernels.Failure)) throw error;
      return {failure: {kind: error.kind, message: error.message, details: error.details}};
    }
  }

  const facts = () => guarded(async () => (await opened()).facts);

  /* The inputs arrive one after another in one body, and the outputs leave likewise, in the program's order. */
  const run = ({job, repeat}) => guarded(async () => {
    const [program, body] = await Promise.all([
      fetch(`in/${job}/program`).then((answer) => answer.json()),
      fetch(`in/${job}/inputs`).then((answer) => answer.arrayBuffer()),
    ]);
    const inputs = {};
    let at = 0;
    for (const tensor of program.tensors.filter((one) => one.role !== "output")) {
      inputs[tensor.name] = new Uint8Array(body, at, tensor.sizeBytes);
      at += tensor.sizeBytes;
    }
    const kernel = await (await opened()).compile(program);
    const {outputs, times} = await kernel.run(inputs, {repeat});
    await fetch(`out/${job}`, {method: "POST", body: new Blob(Object.values(outputs))});
    return {names: Object.keys(outputs), times};
  });

  return {facts, run};
})();
