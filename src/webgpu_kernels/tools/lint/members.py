"""Members of namespaces that the contract does not have: misspelt, they are silently undefined."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract import LOGICAL_DTYPES, NIBBLE_DTYPES, Requires
from webgpu_kernels.contract.words import alternatives, sentence
from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS, FEATURES
from webgpu_kernels.tools.lint.formulas import formulas, tree
from webgpu_kernels.tools.lint.subject import in_manifest
from webgpu_kernels.tools.lint.trees import references

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from webgpu_kernels.contract import Manifest, Variant
    from webgpu_kernels.tools.lint.findings import Findings, Place
    from webgpu_kernels.tools.lint.subject import Subject
    from webgpu_kernels.tools.lint.trees import Reference

_LANGUAGE_FEATURES: Final = """
    readonly_and_readwrite_storage_textures packed_4x8_integer_dot_product unrestricted_pointer_parameters
    pointer_composite_access uniform_buffer_standard_layout subgroup_id subgroup_uniformity texture_and_sampler_let
    texture_formats_tier1 linear_indexing fragment_depth immediate_address_space buffer_view swizzle_assignment
"""
_ADAPTER: Final = """
    vendor architecture device description subgroupMinSize subgroupMaxSize isFallbackAdapter subgroupMatrixConfigs
    invocationsInFlight
"""
_OF_DEVICE: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "device.features": FEATURES,
        "device.wgslLanguageFeatures": frozenset(_LANGUAGE_FEATURES.split()),
        "device.adapterInfo": frozenset(_ADAPTER.split()),
    }
)
_DEVICE: Final = frozenset({"features", "wgslLanguageFeatures", "limits", "adapterInfo"})
_WHAT: Final = {
    "shapes": "tensors",
    "ranks": "tensors",
    "tensorDtypes": "tensors",
    "present": "tensors and arguments",
    "attrs": "attributes",
    "args": "arguments",
    "tunables": "tunables",
    "dtypes": "type variables and dtypes",
    "logicalDtypes": "type variables and dtypes",
    "device": "members of device",
}


class Members:
    """What the namespaces of a contract hold.

    Args:
        manifest: the contract.
    """

    def __init__(self, manifest: Manifest) -> None:
        ports = {**manifest.inputs, **manifest.outputs}
        dtypes = {*manifest.type_constraints, *LOGICAL_DTYPES}
        dtypes |= set(NIBBLE_DTYPES) if "int4" in manifest.extensions else set()
        tensors = {port.semantic for port in ports.values()}
        self._tunables = frozenset(manifest.tunables)
        self._all_tunables = self._tunables.union(*(variant.tunables for variant in manifest.variants))
        self._known: dict[str, Collection[str]] = {
            **dict.fromkeys(("shapes", "ranks", "tensorDtypes"), tensors),
            **dict.fromkeys(("dtypes", "logicalDtypes"), dtypes),
            "present": {*ports, *manifest.args},
            "attrs": set(manifest.attributes),
            "args": set(manifest.args),
            "device": _DEVICE,
        }

    def check(self, asked: Reference, findings: Findings, place: Place, variant: Variant | None, whole: bool) -> None:
        """Report a member that is not there.

        Args:
            asked: what is asked for.
            findings: where it is reported.
            place: where it is asked for.
            variant: the variant whose tunables are there, or None.
            whole: whether the tunables of every variant may be: a template has several users.
        """
        if asked.namespace == "device.limits" and asked.member not in DEFAULT_LIMITS:
            _report(findings, "L102", place, asked, alternatives(asked.member, DEFAULT_LIMITS, what="limits"))
        elif asked.namespace in _OF_DEVICE:
            self._check_device(asked, findings, place)
        elif asked.namespace == "tunables":
            own = frozenset(variant.tunables) if variant else frozenset()
            known = self._all_tunables if whole else self._tunables | own
            self._check_known(asked, known, findings, place)
        elif asked.namespace in self._known:
            self._check_known(asked, self._known[asked.namespace], findings, place)

    def _check_known(self, asked: Reference, known: Collection[str], findings: Findings, place: Place) -> None:
        if asked.guarded or asked.member in known:
            return
        hint = alternatives(asked.member, sorted(known), what=_WHAT[asked.namespace])
        if asked.namespace == "tunables" and asked.member in self._all_tunables:
            hint = "it is a variant's, which the manifest's formulas and when do not see"
        _report(findings, "L101", place, asked, hint)

    @staticmethod
    def _check_device(asked: Reference, findings: Findings, place: Place) -> None:
        known = _OF_DEVICE[asked.namespace]
        if asked.member not in known and asked.member != "has" and not asked.guarded:
            _report(findings, "L103", place, asked, alternatives(asked.member, sorted(known), what="names"))


def _report(findings: Findings, code: str, place: Place, asked: Reference, hint: str) -> None:
    remedy = sentence(hint)
    if asked.namespace in {"device.features", "device.wgslLanguageFeatures"}:
        findings.add(code, place, f"{asked.namespace}.has({asked.member!r}): there is no such name", remedy)
    else:
        findings.add(code, place, f"{asked.namespace}.{asked.member} is not there", remedy)


def check_members(subject: Subject, findings: Findings) -> None:
    """Report the members that formulas of the manifest ask for in vain.

    Args:
        subject: the package.
        findings: where they are reported.
    """
    members = Members(subject.manifest)
    for formula in formulas(subject.manifest, subject.paths):
        for asked in references(tree(formula.source)):
            members.check(asked, findings, in_manifest(formula.path), formula.variant, whole=False)
    _check_requires(subject, findings)


def _check_requires(subject: Subject, findings: Findings) -> None:
    """Look at requires as it stands: the model has each variant's merged with the manifest's."""
    manifest = subject.manifest
    own = manifest.requires
    entries = [("requires", own, Requires())]
    entries += [(f"{subject.paths.variant(each)}.requires", each.requires, own) for each in manifest.variants]
    for path, requires, told in entries:
        for feature in sorted(requires.features - told.features - FEATURES):
            remedy = sentence(alternatives(feature, sorted(FEATURES), what="features"))
            findings.add("L103", in_manifest(f"{path}.features"), f"there is no feature {feature!r}", remedy)
        for limit in requires.limits:
            if limit not in DEFAULT_LIMITS and limit not in told.limits:
                remedy = sentence(alternatives(limit, DEFAULT_LIMITS, what="limits"))
                findings.add("L102", in_manifest(f"{path}.limits"), f"there is no limit {limit!r}", remedy)
