"""Manifests that are too large to lie in a file: work that multiplies, texts without end, nesting without bottom."""

from __future__ import annotations

import json
from typing import Any

from sample_manifests import a_pass, variant

Manifest = dict[str, Any]


def manifest(**changes: Any) -> Manifest:
    """Return a good manifest with changes."""
    return {
        "domain": "test",
        "name": "Scale",
        "inputs": {"x": {"dtype": "float32"}},
        "outputs": {"y": {"dtype": "float32", "shape": "shapes.x"}},
        "variants": [variant("only")],
    } | changes


def of_pass(**changes: Any) -> Manifest:
    """Return a manifest whose only pass is changed."""
    return manifest(variants=[variant("only", passes=[a_pass(**changes)])])


def derived(formulas: dict[str, Any]) -> Manifest:
    """Return a manifest that derives names."""
    return manifest(derive=formulas)


def many(count: int, formula: str) -> Manifest:
    """Return a manifest that derives many names alike; ``#`` stands for the number of each."""
    return derived({f"d{number}": formula.replace("#", str(number)) for number in range(count)})


def chain(count: int, first: Any, formula: Any) -> Manifest:
    """Return a manifest that derives each name from the one before it; ``#`` stands for that name."""
    formulas = {"d0": first}
    for number in range(1, count):
        formulas[f"d{number}"] = json.loads(json.dumps(formula).replace("#", f"d{number - 1}"))
    return derived(formulas)


def heavy(scale: str) -> str:
    """Return a formula that takes as long as one may."""
    return f"fill({scale}, 99999) | sort | length"


def rounds(*counts: str) -> Manifest:
    """Return a manifest of repeat groups, one in another."""
    steps: list[Manifest] = [a_pass()]
    for depth, count in enumerate(counts):
        steps = [{"id": f"g{depth}", "repeat": {"count": count, "index": f"i{depth}"}, "passes": steps}]
    return manifest(variants=[variant("only", passes=steps)])


def often(count: int, *passes: Manifest, **changes: Any) -> Manifest:
    """Return a manifest whose passes run many times."""
    group = {"id": "g", "repeat": {"count": f"{count} * ranks.x", "index": "i"}, "passes": list(passes) or [a_pass()]}
    return manifest(variants=[variant("only", passes=[group])], **changes)


def struct_of(count: int) -> Manifest:
    """Return a uniform of many fields."""
    return {"name": "p", "struct": [{"name": f"f{n}", "type": "u32", "value": 1} for n in range(count)]}


def axis(count: int) -> list[Manifest]:
    """Return the records of an axis."""
    return [{"$key": str(number)} for number in range(count)]


def text(document: Manifest, old: str, new: str) -> bytes:
    """Return a document's text, one part of it replaced."""
    return json.dumps(document).replace(old, new).encode()


LARGE: dict[str, Manifest | bytes] = {
    "nested_10000": b'{"derive": {"a": ' + b"[" * 10_000 + b"]" * 10_000 + b"}}",
    "nested_objects_10000": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "never_closed": b"[" * 1_000_000,
    "strings_that_double": chain(60, "'xxxxxxxx'", "# ~ #"),
    "strings_that_double_by_plus": chain(60, "'xxxxxxxx'", "# + #"),
    "strings_that_double_by_join": chain(60, "'xxxxxxxx'", "[#, #] | join('')"),
    "strings_that_grow_by_replace": chain(60, "'xxxxxxxx'", "# | replace('x', 'xxxxxxxxxx')"),
    "lists_that_double": chain(60, "[1, 2, 3]", "# + #"),
    "lists_that_nest": chain(60, "[1]", "[#, #]"),
    "objects_that_nest": chain(60, "{'a': 1}", "{'a': #, 'b': #}"),
    "json_lists_that_nest": chain(60, [1], ["#", "#"]),
    "json_objects_that_nest": chain(60, {"a": 1}, {"a": "#", "b": "#"}),
    "sorted_a_thousand_times": derived({"a": "fill(0, 99999) | sort" + " | sort | reverse" * 1100}),
    "heavy_constants": many(2000, heavy("#")),
    "heavy_formulas": many(2000, heavy("ranks.x + #")),
    "heavy_lists": many(2000, "fill(ranks.x + #, 99999)"),
    "heavy_strings": many(1000, f"fill('{'x' * 100}', ranks.x + 1990) | join('#')"),
    "heavy_clauses": manifest(variants=[variant(f"v{n}", when=[f"{heavy(str(n))} == 1"]) for n in range(1500)]),
    "heavy_rounds": manifest(
        variants=[
            variant(
                "only",
                passes=[
                    {"repeat": {"count": "ranks.x * 6000"}, "passes": [a_pass(derive={"d": heavy("repeat.index")})]}
                ],
            )
        ]
    ),
    "heavy_dimensions": manifest(
        outputs={"y": {"dtype": "float32", "shape": [heavy(f"ranks.x + {n}") for n in range(2000)]}}
    ),
    "heavy_fields": of_pass(
        bindings=[
            "x",
            "y",
            {
                "name": "p",
                "struct": [{"name": f"f{n}", "type": "u32", "value": heavy(f"ranks.x + {n}")} for n in range(2000)],
            },
        ]
    ),
    "rounds_of_rounds": rounds("ranks.x * 65000", "ranks.x * 65000"),
    "rounds_of_nothing": rounds("0 * ranks.x", "ranks.x * 65000", "ranks.x * 65000"),
    "rounds_of_131070_passes": often(65_535, a_pass(), a_pass(id="other")),
    "rounds_of_65535": often(65_535),
    "rounds_of_long_formulas": often(4000, a_pass(derive={"d": "1" + " + ranks.x" * 1900})),
    "rounds_of_long_constants": often(4000, a_pass(derive={"d": "1" + " + 1" * 4900})),
    "rounds_of_lists": often(4000, a_pass(derive={"d": [1] * 5000})),
    "rounds_of_names": often(8000, derive={f"d{n}": 1 for n in range(20_000)}),
    "rounds_of_derives": often(8000, a_pass(derive={f"d{n}": 1 for n in range(20_000)})),
    "rounds_of_fields": often(8000, a_pass(bindings=["x", "y", struct_of(900)])),
    "rounds_of_long_counts": often(
        8000,
        {"id": "n", "repeat": {"count": "0" + " * ranks.x" * 1900, "index": "j"}, "passes": [a_pass()]},
    ),
    "rounds_of_long_ids": often(8000, a_pass(id="m" * 250)),
    "passes_8300": manifest(variants=[variant("only", passes=[a_pass(id=f"p{n}") for n in range(8300)])]),
    "rounds_90_deep": rounds(*["0 * ranks.x"] * 90),
    "shader_name_of_5000": of_pass(shader="a" * 5000 + ".wgsl"),
    "shader_3000_folders_deep": of_pass(shader="a/" * 3000 + "a.wgsl"),
    "element_type_nested": of_pass(bindings=["x", {"name": "y", "elementType": "vec4" + "<f32" * 5000 + ">" * 5000}]),
    "element_type_of_spaces": of_pass(bindings=["x", {"name": "y", "elementType": "vec4" + " " * 100_000}]),
    "a_million_variants": manifest(
        variants=[{"axes": {"a": axis(1000), "b": axis(1000)}, "variants": [variant("v{a}_{b}")]}]
    ),
    "a_million_cases": manifest(
        variants=[{"cases": [{"n": n} for n in range(4000)], "variants": [variant("v{n}")] * 400}]
    ),
    "family_of_texts": manifest(
        variants=[{"cases": [{"n": "x" * 1000}] * 1000, "variants": [variant("v", description="{n}" * 1000)]}]
    ),
    "family_of_lists": manifest(
        variants=[{"cases": [{"n": [0] * 1000}], "variants": [variant("v", when=["{n}"] * 1000)]}]
    ),
    "many_variants": manifest(variants=[variant(f"v{n}") for n in range(5000)]),
    "many_superseders": manifest(
        variants=[variant(f"v{n}", supersededBy=[f"v{m}" for m in range(n)] or ["v1"]) for n in range(300)]
    ),
    "unknown_keys": manifest(**{f"variant{n}": 1 for n in range(20_000)}),
    "unknown_long_keys": manifest(**{"variant" * 28 + str(n): 1 for n in range(2000)}),
    "unknown_names": many(20_000, "nope"),
    "unknown_names_like_known_ones": derived(
        {"ab" * 20 + f"{n:06d}": 1 for n in range(1000)} | {f"d{n}": "ba" * 20 + f"{n:06d}" for n in range(3000)}
    ),
    "unknown_names_in_a_list": derived({"d": [f"n{n}" for n in range(50_000)]}),
    "unknown_name_of_19000": derived({"d": "n" * 19_000}),
    "syntax_errors": many(20_000, "(# +"),
    "syntax_error_at_the_end": derived({"d": "1 + " * 4900 + ")"}),
    "key_of_a_million": derived({"k" * 1_000_000: 1}),
    "bad_key_of_a_million": derived({"-" * 1_000_000: 1}),
    "too_many_values": derived({"d": list(range(120_000))}),
    "inputs_20000": manifest(inputs={f"x{n}": {"dtype": "float32"} for n in range(20_000)}),
    "arguments_required": manifest(args={f"a{n}": {"kind": "u32", "required": True} for n in range(15_000)}),
    "conditions_40000": manifest(when=["false"] * 40_000),
    "limits_30000": manifest(requires={"limits": {f"max{n}": 1 for n in range(30_000)}}),
    "dimensions_60000": manifest(outputs={"y": {"dtype": "float32", "shape": [1] * 60_000}}),
    "domain_of_200000": manifest(domain="d" * 200_000, when=["false"]),
    "names_twice": b'{"name": "a", "na\\u006de": "b"}',
    "marks_twice": b"\xef\xbb\xbf\xef\xbb\xbf{}",
    "surrogates_as_utf8": b'{"name": "\xed\xa0\x80"}',
    "derives_that_need_each_other": derived({"a": "b", "b": "a"}),
    "numbers_of_1e308": of_pass(dispatch={"x": 1e308}),
    "shape_of_1e308": manifest(outputs={"y": {"dtype": "float32", "shape": [1e308]}}),
    "shape_of_2_248": manifest(outputs={"y": {"dtype": "float32", "shape": [2**31] * 8}}),
    "family_of_derives": manifest(
        variants=[
            {
                "cases": [{"n": n} for n in range(4000)],
                "variants": [variant("v{n}", derive={f"d{m}": "{n}" for m in range(20)})],
            }
        ]
    ),
    "formula_too_long": derived({"d": "1" + " + 1" * 10_000}),
    "formulas_of_2_mb": many(95, "#" + " + 1" * 4900),
    "formulas_of_2_mb_alike": many(95, "1" + " + 1" * 4900),
    "keywords_of_a_call": derived({"d": "max(" + ",".join(f"a{n}=1" for n in range(2500)) + ")"}),
    "brackets_nested": derived({"d": "(" * 9000 + "1" + ")" * 9000}),
    "lists_nested": derived({"d": "[" * 9000 + "]" * 9000}),
    "minus_upon_minus": derived({"d": "- " * 9000 + "1"}),
    "not_upon_not": derived({"d": "not " * 4000 + "true"}),
    "members_of_members": derived({"d": "shapes" + ".x" * 9000}),
    "filters_upon_filters": derived({"d": "1" + "|abs" * 4000}),
    "powers_of_powers": derived({"d": "2 ** " * 4000 + "1"}),
    "calls_of_calls": derived({"d": "ceil(" * 3000 + "1" + ")" * 3000}),
    "fields_of_a_struct": of_pass(
        bindings=[
            "x",
            "y",
            {"name": "p", "struct": [{"name": f"f{n}", "type": "u32", "value": 1} for n in range(20_000)]},
        ]
    ),
    "bindings_of_a_pass": of_pass(bindings=["x", "y", *({"name": f"b{n}", "arg": "x"} for n in range(15_000))]),
    "values_of_an_attribute": manifest(
        attributes={"a": {"default": 0}}, attributeConstraints={"a": {"values": [1] * 90_000}}
    ),
    "reason_of_escapes": manifest(when=["'" + "\x1b" * 9000 + "'"]),
    "number_of_5000_digits": text(manifest(sinceVersion=77), "77", "7" * 5000),
    "fraction_of_a_million_digits": text(manifest(sinceVersion=77), "77", "1." + "7" * 1_000_000),
}
"""Each of them ends in an error."""

HARMLESS: dict[str, Manifest | bytes] = {
    "rounds_of_8192": often(8192),
    "passes_4000": manifest(variants=[variant("only", passes=[a_pass(id=f"p{n}") for n in range(4000)])]),
    "inputs_that_may_lack": manifest(
        inputs={"x": {"dtype": "float32"}} | {f"o{n}": {"dtype": "float32", "optional": True} for n in range(15_000)}
    ),
    "type_variables": manifest(typeConstraints={f"T{n}": ["float32", "float16"] for n in range(20_000)}),
    "description_of_2_mb": manifest(description="\x1b[2J" * 400_000),
    "arguments_of_a_call": derived({f"d{n}": f"max({n}," + "1," * 9000 + ")" for n in range(4)}),
    "many_values": derived({"d": [1] * 95_000}),
    "many_handles": manifest(bindings={f"h{n}": {"arg": "x"} for n in range(20_000)}),
    "conditions_in_conditions": derived({"d": "1 if true else " * 1200 + "1"}),
    "strings_beside_strings": derived({"d": "'a' " * 4900}),
    "superseders_of_superseders": manifest(
        variants=[
            variant(f"v{n}", when=["true"], **({"supersededBy": [f"v{m}" for m in range(n)]} if n else {}))
            for n in range(60)
        ]
    ),
}
"""Each of them looks like an attack, and comes to an end quickly."""
