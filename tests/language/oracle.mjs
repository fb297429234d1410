// Answers cases, one JSON object a line, with what @huggingface/jinja makes of them:
//   {"expression": text, "scope": {…}}  or  {"template": text, "scope": {…}}
// and gives {"value": …}, {"text": …} or {"error": true}. A value is [kind] or [kind, payload].
import { createInterface } from "node:readline";
import { Environment, Interpreter, Template, parse, tokenize } from "@huggingface/jinja";

const KINDS = { IntegerValue: "Integer", FloatValue: "Float", StringValue: "String", BooleanValue: "Boolean" };

function encode(value) {
  switch (value.type) {
    case "NullValue":
      return ["None"];
    case "UndefinedValue":
      return ["Undefined"];
    case "ArrayValue":
    case "TupleValue":
      return ["List", value.value.map(encode)];
    case "ObjectValue":
      return ["Dict", [...value.value].map(([key, entry]) => [key, encode(entry)])];
    default:
      // Numbers travel as text, which keeps infinities; what has no payload is only named.
      return value.type in KINDS ? [KINDS[value.type], String(value.value)] : [value.type];
  }
}

function answer({ expression, template, scope }) {
  if (template !== undefined) return { text: new Template(template).render(scope) };
  const environment = new Environment();
  const constants = { true: true, false: false, none: null, True: true, False: false, None: null };
  for (const [name, value] of Object.entries({ ...constants, ...scope })) environment.set(name, value);
  const program = parse(tokenize(`{{ ${expression} }}`, { lstrip_blocks: true, trim_blocks: true }));
  return { value: encode(new Interpreter(environment).evaluate(program.body[0], environment)) };
}

for await (const line of createInterface({ input: process.stdin })) {
  let result;
  try {
    result = answer(JSON.parse(line));
  } catch {
    result = { error: true };
  }
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
