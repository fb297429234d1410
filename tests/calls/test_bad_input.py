"""Bad input gives one clear error of the right class, before anything runs, and the next good call works."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import webgpu_kernels as wk

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.device

Inputs = dict[str, Any]
OP = "com.microsoft.SkipGroupNorm"


@pytest.fixture(autouse=True)
def next_good_call_works(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> Any:
    """After every refusal the same kernel still computes."""
    good = {name: array.copy() for name, array in inputs.items()}
    good_attrs = dict(attrs)
    before = kernel(good, attrs=good_attrs).Y
    yield
    np.testing.assert_array_equal(kernel(good, attrs=good_attrs).Y, before)


def refused(kind: type[wk.errors.KernelError], call: Callable[[], object]) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    return str(caught.value)


def test_an_unknown_input(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """Named, with those there are."""
    inputs["residual"] = inputs.pop("skip")
    assert refused(wk.errors.UnknownNameError, lambda: kernel(inputs, attrs=attrs)) == (
        f"{OP}: unknown input 'residual'. The contract has inputs: X, gamma, beta, skip, bias."
    )


def test_missing_inputs(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """All of them at once; None counts as absent."""
    del inputs["beta"]
    inputs["skip"] = None
    assert refused(wk.errors.MissingValueError, lambda: kernel(inputs, attrs=attrs)) == (
        f"{OP}: missing inputs 'beta', 'skip'. Required are: X, gamma, beta, skip."
    )


def test_missing_attributes(kernel: wk.Kernel, inputs: Inputs) -> None:
    """Groups and activation have no default."""
    assert refused(wk.errors.MissingValueError, lambda: kernel(inputs)) == (
        f"{OP}: missing attributes 'activation', 'groups'. "
        "Without a default the call gives them: attrs={'activation': 0 or 1, 'groups': …}."
    )
    assert "'groups'" in refused(wk.errors.MissingValueError, lambda: kernel(inputs, attrs={"activation": 1}))
    assert "'activation'" in refused(wk.errors.MissingValueError, lambda: kernel(inputs, attrs={"groups": 1}))


def test_an_unknown_attribute_output_argument_tunable_or_variant(
    kernel: wk.Kernel, inputs: Inputs, attrs: Inputs
) -> None:
    """Each is named."""
    cases: list[tuple[dict[str, Any], str]] = [
        ({"attrs": {**attrs, "epsilom": 1}}, "attribute 'epsilom'. Did you mean epsilon?"),
        ({"attrs": attrs, "outputs": ["Z"]}, "output 'Z'. The contract has outputs: Y, S."),
        ({"attrs": attrs, "args": {"k": 1}}, "argument 'k'. The contract has arguments: none."),
        ({"attrs": attrs, "tunables": {"WORKGROUP": 1}}, "tunable 'WORKGROUP'. Did you mean WORKGROUP_SIZE?"),
        ({"attrs": attrs, "variant": "split_sums"}, "variant 'split_sums'. Did you mean split_sum?"),
    ]
    for options, name in cases:
        message = refused(wk.errors.UnknownNameError, partial(kernel, inputs, **options))
        assert message == f"{OP}: unknown {name}"


def test_a_wrong_rank(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """The port, the rank it wants and the shape that came."""
    inputs["X"] = inputs["X"][0]
    assert refused(wk.errors.ShapeError, lambda: kernel(inputs, attrs=attrs)) == (
        f"{OP}: 'X': wrong rank: expected rank 4, got rank 3, shape [4, 4, 32]"
    )


@pytest.mark.parametrize("name", ["gamma", "beta", "bias"])
def test_a_channel_vector_of_another_length(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs, name: str) -> None:
    """The clause, the shape that came and the channels there are."""
    inputs[name] = np.ones(31, np.float32)
    assert refused(wk.errors.ShapeError, lambda: kernel(inputs, attrs=attrs)) == (
        f"{OP}: {name!r}: wrong shape: expected [32], got [31]. The contract asks for {name}IsPerChannel."
    )


@pytest.mark.parametrize("groups", [2.5, "8", [8], True])
def test_groups_that_are_no_number_of_groups(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs, groups: object) -> None:
    """The kind that the contract's formulas ask for is said in words, not in theirs."""
    attrs["groups"] = groups
    assert refused(wk.errors.AttributeValueError, lambda: kernel(inputs, attrs=attrs)) == (
        f"{OP}: attribute 'groups': wrong kind of value: expected an integer, got {groups!r}"
    )


@pytest.mark.parametrize("groups", [5, 0, -8, 64, 2**40])
def test_groups_that_do_not_divide_the_channels(
    kernel: wk.Kernel, inputs: Inputs, attrs: Inputs, groups: object
) -> None:
    """Also zero and negative ones."""
    attrs["groups"] = groups
    message = refused(wk.errors.AttributeValueError, lambda: kernel(inputs, attrs=attrs))
    assert message.startswith(f"{OP}: attribute 'groups': value not allowed: expected groupsDivideChannels → ")
    assert message.endswith(f", got {groups!r}")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("activation", 2, "value not allowed: expected one of [0, 1], got 2"),
        ("activation", 0.5, "value not allowed: expected one of [0, 1], got 0.5"),
        ("epsilon", "x", "wrong kind of value: expected a number, got 'x'"),
        (
            "epsilon",
            -1,
            "value not allowed: expected epsilonIsNotNegative → `attrs.epsilon >= 0` (attrs.epsilon = -1), got -1",
        ),
        ("epsilon", float("nan"), "attributes are finite float32 numbers: got nan"),
        ("epsilon", 1e39, "attributes are finite float32 numbers: got 1e+39"),
        ("channels_last", [1], "wrong kind of value: expected a number, got [1]"),
    ],
)
def test_an_attribute_value(  # noqa: PLR0917 - three fixtures, three columns
    kernel: wk.Kernel, inputs: Inputs, attrs: Inputs, name: str, value: object, message: str
) -> None:
    """What is allowed and what came."""
    attrs[name] = value
    assert refused(wk.errors.AttributeValueError, lambda: kernel(inputs, attrs=attrs)) == (
        f"{OP}: attribute {name!r}: {message}"
    )


@pytest.mark.parametrize(
    "shape",
    [(2, 31), (1, 32), (2, 1, 32), (2, 4, 4, 1), (2, 1, 1, 31), (2, 32, 1, 1), (32,), (2, 4, 4, 33), (2, 4, 1, 32)],
)
def test_a_skip_of_a_near_miss_shape(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs, shape: tuple[int, ...]) -> None:
    """Only X's shape, (N, C) and (N, 1, 1, C) are taken."""
    inputs["skip"] = np.zeros(shape, np.float32)
    assert refused(wk.errors.ShapeError, lambda: kernel(inputs, attrs=attrs)) == (
        f"{OP}: 'skip': wrong shape: expected [2, 4, 4, 32], [2, 32] or [2, 1, 1, 32], got {list(shape)}. "
        "The contract asks for skipIsExactOrPerChannel."
    )


def test_dtypes_that_differ(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """X and skip share a type variable."""
    inputs["skip"] = inputs["skip"].astype(np.float16)
    assert refused(wk.errors.DtypeError, lambda: kernel(inputs, attrs=attrs)) == (
        f"{OP}: 'skip': dtypes differ: expected float32 as 'X' has (both are T), got float16. "
        "Convert one of them, for example with skip.astype('float32')."
    )


@pytest.mark.parametrize(
    ("dtype", "hint"),
    [
        (np.float64, "Convert with array.astype('float32')."),
        (object, "Give a numeric array; object arrays hold Python references."),
    ],
)
def test_arrays_of_dtypes_that_no_port_has(
    kernel: wk.Kernel, inputs: Inputs, attrs: Inputs, dtype: Any, hint: str
) -> None:
    """With the remedy."""
    inputs["X"] = inputs["X"].astype(dtype)
    message = refused(wk.errors.DtypeError, lambda: kernel(inputs, attrs=attrs))
    assert message.startswith(f"{OP}: 'X': unsupported dtype: expected one of float32, float16, got ")
    assert message.endswith(hint)


def test_an_integer_array(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """The port's own list."""
    inputs["X"] = inputs["X"].astype(np.int32)
    assert refused(wk.errors.DtypeError, lambda: kernel(inputs, attrs=attrs)) == (
        f"{OP}: 'X': wrong dtype: expected T, one of float32, float16, got int32"
    )


def test_what_is_no_array(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """A list has no dtype."""
    inputs["gamma"] = list(inputs["gamma"])
    message = refused(wk.errors.DtypeError, lambda: kernel(inputs, attrs=attrs))
    assert message.startswith(f"{OP}: 'gamma': not an array: expected a numpy array or a GPU tensor, got list")


@pytest.mark.parametrize("order", ["F", "negative", "sliced", "readonly", "big-endian"])
def test_any_memory_layout_works(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs, order: str) -> None:
    """Strides, flags and byte order are numpy's business."""
    expected = kernel(inputs, attrs=attrs).Y
    x = inputs["X"]
    padded = np.zeros((*x.shape[:3], 2 * x.shape[3]), np.float32)
    padded[..., ::2] = x
    readonly = x.copy()
    readonly.flags.writeable = False
    inputs["X"] = {
        "F": np.asfortranarray(x),
        "negative": np.ascontiguousarray(x[:, ::-1])[:, ::-1],
        "sliced": padded[..., ::2],
        "readonly": readonly,
        "big-endian": x.astype(">f4"),
    }[order]
    np.testing.assert_array_equal(kernel(inputs, attrs=attrs).Y, expected)


def test_nan_and_inf_flow_through(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """A NaN or infinity spoils its own group and no other."""
    expected = kernel(inputs, attrs=attrs).Y
    inputs["X"][0, 1, 2, 5] = np.nan
    inputs["X"][1, 0, 0, 30] = np.inf
    got = kernel(inputs, attrs=attrs).Y
    spoilt = np.zeros(got.shape, bool)
    spoilt[0, ..., 4:8] = spoilt[1, ..., 28:32] = True
    assert np.isnan(got[spoilt]).all()
    np.testing.assert_array_equal(got[~spoilt], expected[~spoilt])


def test_a_tensor_beyond_the_binding_limit(kernel: wk.Kernel, device: wk.Device) -> None:
    """Which limit, how much is asked for, how much there is; no memory is touched."""
    limit = device.capabilities.limits["maxStorageBufferBindingSize"]
    rows = limit // (4 * 1024 * 8) + 1
    image = wk.TensorSpec((1, rows, 1024, 8), "float32")
    channel = wk.TensorSpec((8,), "float32")
    message = refused(
        wk.errors.LimitError,
        lambda: kernel.prepare(X=image, skip=image, gamma=channel, beta=channel, attrs={"groups": 1, "activation": 0}),
    )
    assert message == (
        f"{OP}: 'X': the storage binding is too large: needs {rows * 4 * 1024 * 8}, "
        f"the device's maxStorageBufferBindingSize is {limit}"
    )


def test_a_tensor_beyond_the_largest_buffer(kernel: wk.Kernel, device: wk.Device) -> None:
    """The other limit."""
    limit = device.capabilities.limits["maxBufferSize"]
    image = wk.TensorSpec((1, limit // 1024 + 1, 1024, 8), "float32")
    channel = wk.TensorSpec((8,), "float32")
    message = refused(
        wk.errors.LimitError,
        lambda: kernel.prepare(X=image, skip=image, gamma=channel, beta=channel, attrs={"groups": 1, "activation": 0}),
    )
    assert f"the device's maxBufferSize is {limit}" in message


def test_float16_on_a_device_without_it(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """The feature is named."""
    half = {name: array.astype(np.float16) for name, array in inputs.items()}
    message = refused(
        wk.errors.NoVariantError, lambda: kernel.render(half, attrs=attrs, capabilities=wk.Capabilities())
    )
    assert "float16 needs the feature shader-f16, which the device lacks" in message


def test_a_destroyed_tensor(kernel: wk.Kernel, device: wk.Device, inputs: Inputs, attrs: Inputs) -> None:
    """Before the call is submitted."""
    inputs["X"] = device.tensor(inputs["X"])
    inputs["X"].destroy()
    assert "the tensor was destroyed" in refused(wk.errors.TensorDestroyed, lambda: kernel(inputs, attrs=attrs))


def test_a_destroyed_tensor_of_a_repeated_call(
    kernel: wk.Kernel, device: wk.Device, inputs: Inputs, attrs: Inputs
) -> None:
    """Also where the same tensors have run before."""
    tensors = {name: device.tensor(array) for name, array in inputs.items()}
    call = kernel.prepare(tensors, attrs=attrs)
    call(tensors)
    tensors["skip"].destroy()
    refused(wk.errors.TensorDestroyed, lambda: call(tensors))


def test_a_tensor_in_a_buffer_that_its_owner_destroyed(
    kernel: wk.Kernel, device: wk.Device, inputs: Inputs, attrs: Inputs
) -> None:
    """Submitting such a buffer would end the process."""
    buffer = device.wgpu_device.create_buffer(size=inputs["X"].nbytes, usage=0x80 | 0x4 | 0x8)
    inputs["X"] = device.wrap(buffer, inputs["X"].shape, "float32")
    kernel(inputs, attrs=attrs)
    buffer.destroy()
    refused(wk.errors.TensorDestroyed, lambda: kernel(inputs, attrs=attrs))


def test_a_tensor_of_another_device(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """Whichever port it comes to."""
    with wk.Device() as other:
        inputs["skip"] = other.tensor(inputs["skip"])
        message = refused(wk.errors.ForeignTensor, lambda: kernel(inputs, attrs=attrs))
    assert "skip" in message


def test_a_variant_that_does_not_take_the_request(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """With the reason."""
    assert refused(wk.errors.NoVariantError, lambda: kernel(inputs, attrs=attrs, variant="fused_bias_plain")) == (
        f"{OP}: variant 'fused_bias_plain' does not take this request: `present.bias` is false (present.bias = false)"
    )


def test_outputs_given_wrongly(kernel: wk.Kernel, device: wk.Device, inputs: Inputs, attrs: Inputs) -> None:
    """A string, a wrong place, a numpy target, a target of another shape."""
    assert refused(wk.errors.RequestError, lambda: kernel(inputs, attrs=attrs, outputs="Y")) == (
        f"{OP}: outputs is a list of names: got 'Y'. Write ['Y']."
    )
    assert refused(wk.errors.RequestError, lambda: kernel(inputs, attrs=attrs, output="host")) == (
        f'{OP}: output: expected "cpu", "gpu" or None, got \'host\''
    )
    target: Any = np.zeros((2, 4, 4, 32), np.float32)
    assert refused(wk.errors.RequestError, lambda: kernel(inputs, attrs=attrs, out={"Y": target})) == (
        f"{OP}: out['Y']: expected a GPU tensor, got ndarray. Make one with device.empty(shape, dtype)."
    )
    small = device.empty((2, 4, 4, 31), "float32")
    assert refused(wk.errors.ShapeError, lambda: kernel(inputs, attrs=attrs, out={"Y": small})) == (
        f"{OP}: output 'Y': wrong shape: expected [2, 4, 4, 32], got [2, 4, 4, 31]"
    )


def test_a_port_that_is_not_there(kernel: wk.Kernel, inputs: Inputs) -> None:
    """And a dtype that a port does not take."""
    assert refused(wk.errors.UnknownNameError, lambda: kernel.tensor("skp", inputs["skip"])) == (
        f"{OP}: unknown input 'skp'. Did you mean skip?"
    )
    assert "wrong dtype" in refused(
        wk.errors.DtypeError, lambda: kernel.tensor("skip", inputs["skip"].astype(np.int32))
    )


def test_a_package_that_is_not_there(tmp_path: Any) -> None:
    """Neither bundled nor in a folder."""
    assert refused(wk.errors.PackageNotFound, lambda: wk.get_kernel("com.microsoft.SkipGroupNrm")) == (
        "no kernel 'com.microsoft.SkipGroupNrm' is bundled. Did you mean 'com.microsoft.SkipGroupNorm'?"
        " With version= it is looked for on the Hub."
    )
    refused(wk.errors.PackageNotFound, lambda: wk.load_kernel(tmp_path))


def test_an_option_among_the_inputs(kernel: wk.Kernel, inputs: Inputs) -> None:
    """The message says where it goes."""
    assert refused(wk.errors.UnknownNameError, lambda: kernel(inputs, groups=8, activation=1)) == (
        f"{OP}: unknown input 'groups'. It goes into attrs={{'groups': …}}."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attrs": [4]}, "attrs: expected a mapping of names to values, got [4]"),
        ({"args": 5}, "args: expected a mapping of names to values, got 5"),
        ({"tunables": "x"}, "tunables: expected a mapping of names to values, got 'x'"),
        ({"outputs": 5}, "outputs: expected names, or names to specs, got 5"),
        ({"outputs": [["Y"]]}, "outputs: expected names, or names to specs, got [['Y']]"),
        ({"out": 5}, "out: expected a mapping of names to GPU tensors, got int"),
        ({"variant": ["a"]}, "variant: expected a variant's id, got ['a']"),
        ({"output": []}, 'output: expected "cpu", "gpu" or None, got []'),
        ({"device": "cpu"}, "device: expected a Device, got 'cpu'. Open one: wk.Device(name), wk.default_device()."),
    ],
)
def test_options_of_the_wrong_kind(
    kernel: wk.Kernel, inputs: Inputs, attrs: Inputs, options: dict[str, Any], message: str
) -> None:
    """Each says what it takes."""
    assert refused(wk.errors.RequestError, lambda: kernel(inputs, **{"attrs": attrs, **options})) == f"{OP}: {message}"


def test_described_devices_are_capabilities(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """A dictionary is none."""
    described: Any = {}
    assert (
        refused(wk.errors.RequestError, lambda: kernel.explain(inputs, attrs=attrs, capabilities=described))
        == f"{OP}: capabilities: expected Capabilities, got {{}}"
    )


def test_an_attribute_without_end(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """A list that holds itself is refused, not followed."""
    endless: list[Any] = []
    endless.append(endless)
    assert refused(wk.errors.AttributeValueError, lambda: kernel(inputs, attrs={**attrs, "groups": endless})) == (
        f"{OP}: attribute 'groups': lists are nested too deeply: expected at most 16 levels"
    )


def test_calls_timed_wrongly(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """No set of inputs, fewer outputs than inputs, and what is no array."""
    call = kernel.prepare(inputs, attrs=attrs)
    expected = "sets of tensors to time: expected one or more inputs, and as many out where it is given, got"
    assert refused(wk.errors.RequestError, lambda: call.time_calls([])) == f"{OP}: {expected} 0"
    assert refused(wk.errors.RequestError, lambda: call.time_calls([inputs], [])) == f"{OP}: {expected} 1 and 0"
    assert refused(wk.errors.MissingValueError, lambda: call.time_calls([{}])).startswith(f"{OP}: missing input 'X'.")


def test_a_prepared_call_given_wrongly(kernel: wk.Kernel, device: wk.Device, inputs: Inputs, attrs: Inputs) -> None:
    """No mapping, an output it was not prepared for, another shape or dtype."""
    call = kernel.prepare(inputs, attrs=attrs)
    listed: Any = [1]
    assert refused(wk.errors.RequestError, lambda: call(listed)) == (
        f"{OP}: inputs are given by name: expected a mapping or keywords, got list"
    )
    nothing: Any = 5
    assert refused(wk.errors.RequestError, lambda: call(inputs, out=nothing)) == (
        f"{OP}: out: expected a mapping of names to GPU tensors, got int"
    )
    target = device.empty((2, 4, 4, 32), "float32")
    assert refused(wk.errors.UnknownNameError, lambda: call(inputs, out={"S": target})) == (
        f"{OP}: prepared call: unknown output 'S'. The contract has outputs: Y."
    )
    assert refused(wk.errors.ShapeError, lambda: call({**inputs, "X": inputs["X"][:1]})) == (
        f"{OP}: 'X': wrong shape for the prepared call: expected [2, 4, 4, 32], got [1, 4, 4, 32]"
    )
    assert refused(wk.errors.DtypeError, lambda: call({**inputs, "X": inputs["X"].astype(np.float16)})) == (
        f"{OP}: 'X': wrong dtype for the prepared call: expected float32, got float16"
    )
