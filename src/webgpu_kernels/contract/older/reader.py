"""Reads a manifest of the older dialect, spec 1.0.

Three published manifests show the dialect; where they leave a point open, the reader decides, mostly to accept:

* ``constants`` and ``derive`` may both stand at any level; they are evaluated in the document's order.
* A port for which no argument stands is called by its role.
* An argument's ``required`` outweighs its port's ``optional``.
* An argument's ``dtype`` is how the tensor is stored; a type variable there says nothing new.
* A binding names its tensor by ``arg`` or ``semantic``; where both stand they must agree. ``semantic`` may also name an
  intermediate, as ``scratch`` does. A variant's ``bindings`` are those of its passes that have none.
* ``source.inputs`` are formulas; templates see them as ``source.<name>``.
* ``selectAbove`` is one condition or a list; where one is false the variant is demoted.
* ``attributeDescriptions`` and ``attributeNames`` declare attributes that have no default.
* Repeat groups, families, ``scratch`` and ``supersededBy`` mean what they mean in spec 2.1; ``variantFamilies`` are
  families that stand apart.
"""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from webgpu_kernels.contract.bindings import Contract
from webgpu_kernels.contract.families import expand_variants
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.formulas import Names
from webgpu_kernels.contract.heading import read_domain, read_name, read_since
from webgpu_kernels.contract.model import Manifest
from webgpu_kernels.contract.older.attributes import read_attributes, read_tunables
from webgpu_kernels.contract.older.bindings import read_sets
from webgpu_kernels.contract.older.levels import derived_here, read_clauses, read_level
from webgpu_kernels.contract.older.ports import read_signature
from webgpu_kernels.contract.older.requirements import read_requires
from webgpu_kernels.contract.older.variants import Outer, read_variant
from webgpu_kernels.contract.older.vocabulary import MANIFEST
from webgpu_kernels.contract.ports import read_type_constraints
from webgpu_kernels.contract.variants import collect_variants
from webgpu_kernels.contract.vocabulary import CONFORMANCE

if TYPE_CHECKING:
    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.older.ports import Signature


def read_older(root: Node) -> Manifest:
    """Read a manifest of spec 1.0.

    Args:
        root: the document, checked.

    Returns:
        The manifest; what is wrong is reported.

    Source: FORMAT section 12.
    """
    fields = Fields(root, MANIFEST)
    fields.text("$schema")
    types = read_type_constraints(fields.get("typeConstraints"))
    level = read_level(fields, Names(frozenset(types), derived_here(fields)))
    signature = read_signature(fields, types, level.names)
    contract = _contract(signature, types)
    requires = read_requires(fields)
    outer = Outer(
        level=level,
        when=read_clauses(fields.get("when"), level.names),
        requires=requires,
        contract=contract,
        sets=read_sets(fields.get("bindingSets"), contract.ports),
    )
    onnx = fields.get("onnx")
    return Manifest(
        domain=read_domain(fields),
        name=read_name(fields),
        description=fields.text("description"),
        conformance=fields.choice("conformance", CONFORMANCE),
        since_version=read_since(fields),
        inputs=signature.inputs,
        outputs=signature.outputs,
        args=signature.args,
        attributes=read_attributes(fields),
        type_constraints=types,
        tunables=MappingProxyType(read_tunables(fields)),
        derive=level.derive,
        requires=requires,
        variants=collect_variants(_variant_nodes(fields), partial(read_variant, outer=outer)),
        onnx=onnx.value if onnx else None,
    )


def _contract(signature: Signature, types: MappingProxyType[str, tuple[str, ...]]) -> Contract:
    return Contract(
        inputs=signature.inputs,
        outputs=signature.outputs,
        ports=MappingProxyType({**signature.inputs, **signature.outputs}),
        args=signature.args.keys(),
        types=types.keys(),
        handles=MappingProxyType({}),
        lost=(),
    )


def _variant_nodes(fields: Fields) -> list[Node]:
    families = fields.get("variantFamilies")
    return [variant for node in (fields.get("variants"), families) if node for variant in expand_variants(node)]
