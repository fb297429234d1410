/* Runs a program.json (docs/export.md) on WebGPU: the host in JavaScript.

   A classic script without dependencies, so that a page may inline it and file:// takes it. It defines one global:

     const session = await WebGPUKernels.open();
     const kernel = await session.compile(program);          // program.json, each pass with its "wgsl"
     const {outputs} = await kernel.run({X: bytes, ...});    // stored bytes in, stored bytes out
     const values = WebGPUKernels.decode(tensor, outputs.Y); // a typed array of what they mean
*/
"use strict";

globalThis.WebGPUKernels = (() => {
  const FEATURES = [
    "shader-f16", "subgroups", "subgroup-size-control", "chromium-experimental-subgroup-matrix", "timestamp-query",
    "texture-formats-tier1", "texture-formats-tier2",
  ];
  const MAX_TIMESTAMPS = 4096;
  /* What memory holds that nothing wrote: NaN as float32 and as float16, and no likely integer. */
  const POISON = 0xffe5ffe5;
  const SCRATCH_POISON = 0xffeaffea; // another one: what is computed from it is wrong, not unwritten

  /* What went wrong: kind is absent, lost, memory, shader, limit or device; details depend on it. */
  class Failure extends Error {
    constructor(kind, message, details = {}) {
      super(message);
      this.name = "Failure";
      this.kind = kind;
      this.details = details;
    }
  }

  /* Opens a device with every feature that kernels may use and the adapter's own limits. */
  async function open(options = {}) {
    if (!globalThis.navigator?.gpu) throw new Failure("absent", "this browser has no WebGPU");
    const adapter = await navigator.gpu.requestAdapter({powerPreference: "high-performance", ...options});
    if (!adapter) throw new Failure("absent", "the browser has WebGPU and found no adapter for it");
    const limits = numbersOf(adapter.limits);
    const requiredFeatures = FEATURES.filter((name) => adapter.features.has(name));
    const device = await adapter.requestDevice({requiredFeatures, requiredLimits: limits});
    return new Session(adapter, device);
  }

  class Session {
    constructor(adapter, device) {
      this.device = device;
      this.lost = null;
      this.facts = describe(adapter, device);
      this.pipelines = new Map();
      this.end = device.lost.then((info) => {
        this.lost = new Failure("lost", `the device was lost${info.message ? `: ${info.message}` : ""}`);
        return this.lost;
      });
      device.onuncapturederror = (event) => console.warn(event.error.message);
    }

    /* Compiles every pass; the same shader with the same layout only once a session. */
    async compile(program) {
      this.check();
      this.refuseUnmet(program);
      const pipelines = [];
      for (const step of program.passes) {
        pipelines.push(step.grid.includes(0) ? null : await this.unlessLost(this.pipelineOf(step)));
      }
      return new Kernel(this, program, pipelines);
    }

    /* Waits for a promise, and no longer than the device is there. */
    unlessLost(promise) {
      return Promise.race([promise, this.end.then((failure) => Promise.reject(failure))]);
    }

    /* Throws where the device lacks what the program needs. */
    refuseUnmet(program) {
      const {features = [], limits = {}} = program.requires ?? {};
      const absent = features.filter((name) => !this.facts.features.includes(name));
      if (absent.length) {
        throw new Failure("limit", `the device lacks ${absent.join(", ")}, which the program needs`, {features: absent});
      }
      for (const [limit, asked] of Object.entries(limits)) {
        const available = this.facts.limits[limit];
        if (available !== undefined && asked > available) {
          const message = `the program needs ${limit} ${asked}, the device has ${available}`;
          throw new Failure("limit", message, {limit, asked, available});
        }
      }
    }

    check() {
      if (this.lost) throw this.lost;
    }

    async pipelineOf(step) {
      const key = JSON.stringify([step.wgsl, step.bindings.map((binding) => [binding.type, binding.minBindingSize])]);
      let made = this.pipelines.get(key);
      if (!made) {
        made = await this.makePipeline(step);
        this.pipelines.set(key, made);
        if (this.pipelines.size > 256) this.pipelines.delete(this.pipelines.keys().next().value);
      }
      return made;
    }

    async makePipeline(step) {
      const {device} = this;
      const module = await this.watched("compiling", () => device.createShaderModule({label: step.label, code: step.wgsl}), {
        quiet: true,
      });
      const info = await module.getCompilationInfo();
      const messages = info.messages.map((one) => ({type: one.type, line: one.lineNum, column: one.linePos, text: one.message}));
      const errors = messages.filter((message) => message.type === "error");
      if (errors.length) throw new Failure("shader", errors[0].text, {pass: step.id, messages: errors});
      return this.watched(`compiling ${step.id}`, async () => {
        const entries = step.bindings.map((binding) => ({
          binding: binding.binding,
          visibility: GPUShaderStage.COMPUTE,
          buffer: {type: binding.type, minBindingSize: binding.minBindingSize},
        }));
        const group = device.createBindGroupLayout({label: step.label, entries});
        const layout = device.createPipelineLayout({bindGroupLayouts: [group]});
        const compute = {module, entryPoint: step.entryPoint};
        try {
          const pipeline = await device.createComputePipelineAsync({label: step.label, layout, compute});
          return {pipeline, group};
        } catch (error) {
          this.check();
          throw new Failure("shader", error.message, {pass: step.id, messages: []});
        }
      });
    }

    /* Runs an action inside error scopes and turns what they catch into a Failure. */
    async watched(doing, action, {quiet = false} = {}) {
      const {device} = this;
      const scopes = [["internal", "device"], ["out-of-memory", "memory"], ["validation", "device"]];
      for (const [filter] of scopes) device.pushErrorScope(filter);
      let result, thrown = null;
      try {
        result = await action();
      } catch (error) {
        thrown = error;
      }
      const caught = [];
      for (const [, kind] of scopes.reverse()) {
        const error = await device.popErrorScope().catch(() => null);
        if (error) caught.push(new Failure(kind, `${doing}: ${error.message}`));
      }
      this.check();
      if (thrown instanceof Failure) throw thrown;
      const worst = caught.find((failure) => failure.kind === "memory") ?? caught[0];
      if (worst && !quiet) throw worst;
      if (thrown) throw new Failure(thrown instanceof RangeError ? "memory" : "device", `${doing}: ${thrown.message}`);
      return result;
    }

    close() {
      this.device.destroy();
    }
  }

  class Kernel {
    constructor(session, program, pipelines) {
      this.session = session;
      this.program = program;
      this.pipelines = pipelines;
    }

    /* Runs the program once, then `repeat` times more for its GPU time.

       inputs: name to stored bytes, an ArrayBuffer view of sizeBytes each. Outputs hold POISON, scratch memory SCRATCH_POISON
       first, so that an element that nothing wrote stands out.
       Returns {outputs: name to Uint8Array, times: [ns], passTimes: {pass id: [ns]}}; the times are empty where the
       device has no timestamp queries. */
    async run(inputs, {repeat = 0, eachPass = false} = {}) {
      const {session, program} = this;
      session.check();
      const memory = new Memory(session, program);
      try {
        return await session.unlessLost(this.runIn(memory, inputs, repeat, eachPass));
      } finally {
        memory.destroy();
      }
    }

    async runIn(memory, inputs, repeat, eachPass) {
      const {session} = this;
      return session.watched("running", async () => {
        memory.allocate(inputs);
        const segments = this.segments(memory);
        for (const segment of segments) {
          const encoder = session.device.createCommandEncoder();
          encode(encoder, segment);
          session.device.queue.submit([encoder.finish()]);
          if (segment.waits) await session.device.queue.onSubmittedWorkDone();
        }
        const outputs = await memory.read();
        const timed = repeat > 0 && session.facts.features.includes("timestamp-query");
        const times = timed ? await this.timeCalls(segments, repeat) : [];
        const passTimes = timed && eachPass ? await this.timePasses(segments, repeat) : {};
        return {outputs, times, passTimes};
      });
    }

    /* Groups the dispatches by submission; a pass whose view aliases are the same memory has nothing to do. */
    segments(memory) {
      const segments = [];
      let segment = {clears: memory.clears(), dispatches: [], waits: false};
      this.program.passes.forEach((step, index) => {
        const aliases = step.viewAliases ?? [];
        const view = aliases.length && aliases.every((alias) => memory.same(alias.input, alias.output));
        if (this.pipelines[index] && !view) segment.dispatches.push(this.dispatch(memory, step, this.pipelines[index]));
        if (step.submitAfter) {
          segments.push({...segment, waits: true});
          segment = {clears: [], dispatches: [], waits: false};
        }
      });
      if (segment.dispatches.length) segments.push(segment);
      return segments;
    }

    dispatch(memory, step, {pipeline, group}) {
      const entries = step.bindings.map((binding) => ({binding: binding.binding, resource: memory.bound(binding)}));
      return {id: step.id, pipeline, grid: step.grid, group: this.session.device.createBindGroup({layout: group, entries})};
    }

    async timeCalls(segments, repeat) {
      const runs = Math.min(repeat, MAX_TIMESTAMPS / 2);
      const busy = segments.filter((segment) => segment.dispatches.length);
      if (!busy.length) return new Array(runs).fill(0);
      return this.session.timed(2 * runs, (querySet, encoder) => {
        for (let run = 0; run < runs; run++) {
          for (const segment of segments) {
            const writes = {querySet};
            if (segment === busy[0]) writes.beginningOfPassWriteIndex = 2 * run;
            if (segment === busy.at(-1)) writes.endOfPassWriteIndex = 2 * run + 1;
            encode(encoder, segment, Object.keys(writes).length > 1 ? writes : undefined);
          }
        }
      });
    }

    async timePasses(segments, repeat) {
      const count = segments.reduce((sum, segment) => sum + segment.dispatches.length, 0);
      const times = {};
      if (!count || 2 * count > MAX_TIMESTAMPS) return times;
      for (let run = 0; run < repeat; run++) {
        const ids = [];
        const spans = await this.session.timed(2 * count, (querySet, encoder) => {
          for (const segment of segments) {
            for (const buffer of segment.clears) encoder.clearBuffer(buffer);
            for (const one of segment.dispatches) {
              const at = 2 * ids.length;
              const writes = {querySet, beginningOfPassWriteIndex: at, endOfPassWriteIndex: at + 1};
              encode(encoder, {clears: [], dispatches: [one]}, writes);
              ids.push(one.id);
            }
          }
        });
        ids.forEach((id, index) => (times[id] ??= []).push(spans[index]));
      }
      return times;
    }
  }

  /* Encodes, submits, and returns what lies between each two of `count` timestamps, in nanoseconds. */
  Session.prototype.timed = async function timed(count, record) {
    const {device} = this;
    const querySet = device.createQuerySet({type: "timestamp", count});
    const usage = GPUBufferUsage;
    const resolved = device.createBuffer({size: 8 * count, usage: usage.QUERY_RESOLVE | usage.COPY_SRC});
    const staging = device.createBuffer({size: 8 * count, usage: usage.MAP_READ | usage.COPY_DST});
    try {
      const encoder = device.createCommandEncoder();
      record(querySet, encoder);
      encoder.resolveQuerySet(querySet, 0, count, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, staging, 0, 8 * count);
      device.queue.submit([encoder.finish()]);
      await staging.mapAsync(GPUMapMode.READ);
      const ticks = new BigUint64Array(staging.getMappedRange());
      return Array.from({length: count / 2}, (_, run) => Math.max(0, Number(ticks[2 * run + 1] - ticks[2 * run])));
    } finally {
      querySet.destroy();
      resolved.destroy();
      staging.destroy();
    }
  };

  /* The buffers of one run. */
  class Memory {
    constructor(session, program) {
      this.device = session.device;
      this.program = program;
      this.buffers = new Map();
      this.made = [];
    }

    allocate(inputs) {
      const {STORAGE, COPY_SRC, COPY_DST} = GPUBufferUsage;
      for (const tensor of this.program.tensors) {
        const given = tensor.role === "output" ? POISON : inputs[tensor.name];
        if (given === undefined) throw new Failure("device", `no bytes for the input ${tensor.name}`);
        this.keep("tensor", tensor.name, this.create(tensor.name, tensor.sizeBytes, STORAGE | COPY_SRC | COPY_DST, given));
      }
      for (const scratch of this.program.scratch) {
        const contents = scratch.zeroInit ? null : SCRATCH_POISON;
        this.keep("scratch", scratch.id, this.create(scratch.id, scratch.sizeBytes, STORAGE | COPY_DST, contents));
      }
    }

    keep(source, name, buffer) {
      this.buffers.set(`${source} ${name}`, buffer);
    }

    create(label, size, usage, contents) {
      const buffer = this.device.createBuffer({label, size, usage, mappedAtCreation: contents !== null});
      this.made.push(buffer);
      if (contents === null) return buffer;
      const mapped = new Uint8Array(buffer.getMappedRange());
      if (typeof contents === "number") new Uint32Array(mapped.buffer).fill(contents);
      else if (contents.byteLength > size) throw new Failure("device", `${label} has ${size} bytes, not ${contents.byteLength}`);
      else mapped.set(new Uint8Array(contents.buffer, contents.byteOffset, contents.byteLength));
      buffer.unmap();
      return buffer;
    }

    bound(binding) {
      if (binding.source === "uniform") {
        const bytes = fromBase64(binding.contents);
        return {buffer: this.create(binding.name, bytes.byteLength, GPUBufferUsage.UNIFORM, bytes)};
      }
      const buffer = this.buffers.get(`${binding.source} ${binding.name}`);
      return {buffer, offset: binding.offset, size: binding.size};
    }

    same(input, output) {
      return this.buffers.get(`tensor ${input}`) === this.buffers.get(`tensor ${output}`);
    }

    clears() {
      return this.program.scratch.filter((entry) => entry.zeroInit).map((entry) => this.buffers.get(`scratch ${entry.id}`));
    }

    async read() {
      const {MAP_READ, COPY_DST} = GPUBufferUsage;
      const outputs = this.program.tensors.filter((tensor) => tensor.role !== "input");
      const encoder = this.device.createCommandEncoder();
      const copies = outputs.map((tensor) => {
        const staging = this.create(tensor.name, tensor.sizeBytes, MAP_READ | COPY_DST, null);
        encoder.copyBufferToBuffer(this.buffers.get(`tensor ${tensor.name}`), 0, staging, 0, tensor.sizeBytes);
        return staging;
      });
      this.device.queue.submit([encoder.finish()]);
      await Promise.all(copies.map((staging) => staging.mapAsync(GPUMapMode.READ)));
      const bytes = copies.map((staging) => new Uint8Array(staging.getMappedRange().slice(0)));
      return Object.fromEntries(outputs.map((tensor, index) => [tensor.name, bytes[index]]));
    }

    destroy() {
      for (const buffer of this.made) buffer.destroy();
    }
  }

  function encode(encoder, segment, timestampWrites) {
    for (const buffer of segment.clears) encoder.clearBuffer(buffer);
    if (!segment.dispatches.length) return;
    const compute = encoder.beginComputePass({timestampWrites});
    for (const {pipeline, group, grid} of segment.dispatches) {
      compute.setPipeline(pipeline);
      compute.setBindGroup(0, group);
      compute.dispatchWorkgroups(...grid);
    }
    compute.end();
  }

  function describe(adapter, device) {
    const info = adapter.info ?? {};
    const plain = {};
    for (const name of ["vendor", "architecture", "device", "description", "subgroupMinSize", "subgroupMaxSize"]) {
      if (info[name] !== undefined) plain[name] = info[name];
    }
    const extra = {};  // Chromium says it to developers only
    for (const name of ["type", "backend", "driver"]) if (info[name]) extra[name] = info[name];
    plain.isFallbackAdapter = info.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false;
    if (info.subgroupMatrixConfigs && device.features.has("chromium-experimental-subgroup-matrix")) {
      plain.subgroupMatrixConfigs = info.subgroupMatrixConfigs.map(({componentType, resultComponentType, M, N, K}) =>
        ({componentType, resultComponentType, M, N, K}));
    }
    return {
      features: FEATURES.filter((name) => device.features.has(name)).sort(),
      limits: numbersOf(device.limits),
      adapterInfo: plain,
      wgslLanguageFeatures: [...(navigator.gpu.wgslLanguageFeatures ?? [])].sort(),
      userAgent: navigator.userAgent ?? "",
      extra,
    };
  }

  function numbersOf(limits) {
    const found = {};
    for (const name in limits) if (typeof limits[name] === "number") found[name] = limits[name];
    return found;
  }

  function fromBase64(text) {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  }

  /* Returns how many elements a tensor has. */
  function sizeOf(tensor) {
    return tensor.shape.reduce((product, dimension) => product * dimension, 1);
  }

  /* Returns a tensor's elements in a typed array of numbers (BigInt64Array for int64), from its stored bytes. */
  function decode(tensor, bytes) {
    const size = sizeOf(tensor), {dtype, storage} = tensor;
    const at = (View, count) => new View(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + count * View.BYTES_PER_ELEMENT));
    if (dtype === "float32") return at(Float32Array, size);
    if (dtype === "float16") return Float32Array.from(at(Uint16Array, size), halfToNumber);
    if (dtype === "int4" || dtype === "uint4") return decodeNibbles(dtype, bytes, size);
    if (dtype === "int64") {
      if (storage === "int64") return at(BigInt64Array, size);
      return BigInt64Array.from(at(storage === "uint32" ? Uint32Array : Int32Array, size), BigInt);
    }
    if (tensor.layout === "packed") return at(Uint8Array, size);
    const Narrow = {int8: Int8Array, int16: Int16Array, int32: Int32Array, uint8: Uint8Array, uint32: Uint32Array}[dtype];
    return Narrow ? Narrow.from(at(Int32Array, size)) : Uint8Array.from(at(Uint32Array, size), Boolean);
  }

  /* Returns stored bytes of elements: numbers, BigInts for int64. */
  function encodeElements(tensor, elements) {
    const bytes = new Uint8Array(tensor.sizeBytes), {dtype, storage} = tensor;
    const size = Math.min(sizeOf(tensor), elements.length);
    const Word = {float32: Float32Array, float16: Uint16Array, int64: BigInt64Array, uint32: Uint32Array}[storage];
    if (dtype === "int4" || dtype === "uint4") {
      for (let i = 0; i < size; i++) bytes[i >> 1] |= (Number(elements[i]) & 15) << (4 * (i & 1));
      return bytes;
    }
    const words = tensor.layout === "packed" ? bytes : new (Word ?? Int32Array)(bytes.buffer);
    for (let i = 0; i < size; i++) {
      if (dtype === "float16") words[i] = numberToHalf(elements[i]);
      else words[i] = storage === "int64" ? BigInt(elements[i]) : Number(elements[i]);
    }
    return bytes;
  }

  function decodeNibbles(dtype, bytes, size) {
    const values = new Int8Array(size);
    for (let i = 0; i < size; i++) {
      const nibble = (bytes[i >> 1] >> (4 * (i & 1))) & 15;
      values[i] = dtype === "int4" && nibble > 7 ? nibble - 16 : nibble;
    }
    return values;
  }

  function halfToNumber(bits) {
    const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : (fraction / 1024) * 2 ** -14);
  }

  /* Rounds to the nearest float16, ties to even. */
  function numberToHalf(value) {
    const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0, size = Math.abs(value);
    if (Number.isNaN(value)) return 0x7e00;
    if (size >= 65520) return sign | 0x7c00;
    const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
    const scaled = size / 2 ** (exponent - 10), whole = Math.floor(scaled), rest = scaled - whole;
    const rounded = whole + (rest > 0.5 || (rest === 0.5 && whole % 2) ? 1 : 0);
    return sign | (((exponent + 14) << 10) + rounded);
  }

  return {open, decode, encode: encodeElements, sizeOf, fromBase64, Failure, POISON};
})();
