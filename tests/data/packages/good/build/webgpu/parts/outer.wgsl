{% include "./inner.wgsl" %}
// tail
