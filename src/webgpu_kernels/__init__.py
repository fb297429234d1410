"""WebGPU kernel packages in Python: load one, check a call against its contract, select a variant, render, run."""
