"""Templates and shaders that are made to be slow to read."""

from __future__ import annotations

_HEAD = "{{ env.wgsl.resourceDeclarations }}\n"
_DOUBLED = "{% set n = namespace(a=[1]) %}{% for i in range(40) %}{% set n.a = [n.a, n.a] %}{% endfor %}"
_LONG = "{% set n = namespace(s='a') %}{% for i in range(17) %}{% set n.s = n.s ~ n.s %}{% endfor %}"
_OFTEN = "{% for i in range(99999) %}"
_MAIN = "@compute @workgroup_size(1) fn main() { w[0] = 1; }"
# A rendered shader has this many characters at most.
_SIZE = 300_000

TEMPLATES: dict[str, str] = {
    "loop_of_10_9": "{% for i in range(1000000000) %}x{% endfor %}",
    "loops_in_loops": _OFTEN * 6 + "x" + "{% endfor %}" * 6,
    "loops_of_nothing": _OFTEN * 3 + "{% endfor %}" * 3,
    "string_that_doubles": (
        "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}"
    ),
    "long_output": _LONG + "{% for i in range(20) %}{{ n.s }}{% endfor %}",
    "macro_that_calls_itself": "{% macro f(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(1) }}",
    "macros_that_call_each_other": (
        "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}"
    ),
    "macros_that_double": "{% macro m0() %}xxxxxxxx{% endmacro %}"
    + "".join(f"{{% macro m{n + 1}() %}}{{{{ m{n}() }}}}{{{{ m{n}() }}}}{{% endmacro %}}" for n in range(40))
    + "{{ m40() }}",
    "ifs_nested": "{% if true %}" * 10_000 + "{% endif %}" * 10_000,
    "loops_nested": "{% for a in [1] %}" * 5000 + "{% endfor %}" * 5000,
    "brackets_nested": "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}",
    "lists_nested": "{{ " + "[" * 20_000 + "]" * 20_000 + " }}",
    "comments_never_closed": "{# " * 50_000,
    "prints_never_closed": "{{ " * 50_000,
    "statements_never_closed": "{%- " * 40_000,
    "string_never_closed": "{{ 'x" + "\\'" * 50_000 + " }}",
    "braces": "{" * 199_000,
    "too_long": "x" * 3_000_000,
    "too_large": "x" * 5_000_000,
    "list_that_doubles": _DOUBLED + "{{ n.a }}",
    "list_that_doubles_as_json": _DOUBLED + "{{ n.a | tojson }}",
    "list_that_doubles_as_text": _DOUBLED + "{{ (n.a ~ '') | length }}",
    "list_that_doubles_joined": _DOUBLED + "{{ n.a | join(',') | length }}",
    "sorted_often": "{% for i in range(9999) %}{% set a = range(99999) | sort %}{% endfor %}",
    "replaced_often": (
        "{% set s = 'aaaaaaaaaaaaaaaa' %}{% for i in range(99) %}{% set s = s | replace('a', 'aa') %}{% endfor %}"
    ),
    "searched_often": _LONG + _OFTEN + "{{ '' if (n.s ~ 'b') in n.s }}{% endfor %}",
    "compared_often": _LONG + _OFTEN + "{% set b = (n.s ~ '') == n.s %}{% endfor %}",
    "capitalised_often": _LONG + _OFTEN + "{% set b = n.s | title %}{% endfor %}",
    "powers_often": _OFTEN + "{% set b = 9 ** 9 ** 9 %}{% endfor %}",
    "included_many_times": '{% include "main.wgsl.jinja" %}\n' * 8000,
    "missing_many_times": '{% include "gone.wgsl" %}\n' * 8000,
    "range_of_10_18": "{{ range(1000000000000000000) }}",
    "range_without_a_step": "{{ range(0, 10, 0) }}",
    "indent_of_10_9": "{% set a = 'a\nb' | indent(1000000000) %}",
    "times_10_9": "{{ 'x' * 10 ** 9 }}",
    "replaced_by_itself": (
        "{% set n = namespace(s='a') %}{% for i in range(30) %}{% set n.s = n.s | replace('', n.s) %}{% endfor %}"
    ),
    "split_often": _LONG + "{% for i in range(999) %}{% set a = n.s.split('a') %}{% endfor %}",
    "namespace_in_itself": "{% set n = namespace() %}{% set n.a = n %}{{ n | tojson }}",
    "functions_printed": "{{ range }}",
    "raised_at_length": _LONG.replace("'a'", "'\x1b[2J'").replace("(17)", "(15)") + "{{ raise_exception(n.s) }}",
    "parameters_of_a_macro": "{% macro m("
    + ",".join(f"a{n}" for n in range(28_000))
    + ") %}{% endmacro %}{{ m(b=1) }}",
    "keywords_of_a_namespace": "{{ namespace(" + ",".join(f"a{n}=1" for n in range(9000)) + ") }}",
    "loops_beside_loops": (_OFTEN.replace("99999", "700") * 2 + "{% endfor %}" * 2) * 4,
    "searched_lists": "{% set l = range(9999) %}{% for i in range(9999) %}{% set b = 0 - 1 in l %}{% endfor %}",
    "joined_at_length": "{{ 'a'" + " ~ 'a'" * 30_000 + " }}",
    "digits_of_an_integer": "{% set a = ('" + "9" * 150_000 + "' | int) %}{{ range(a) }}",
    "include_of_spaces": ("{%" + " " * 20_000 + "include") * 9,
    "include_of_quotes": '{% include "' * 9000,
    "enable_without_end": "{% for i in range(90000) %}enable a {% endfor %}",
}
"""Each of them ends in an error; they come after the declarations."""
TEMPLATES = {name: _HEAD + text for name, text in TEMPLATES.items()}

HARMLESS_TEMPLATES: dict[str, str] = {
    "lists_that_double_compared": _DOUBLED
    + _DOUBLED.replace("n.a", "m.a").replace("set n ", "set m ")
    + "{{ n.a == m.a }}",
    "list_of_40000": "{{ [" + "1," * 40_000 + "] | length }}",
    "filters_in_blocks": "{% filter upper %}" * 90 + "x" + "{% endfilter %}" * 90,
    "members_of_a_namespace": "{% set n = namespace() %}" + "".join(f"{{% set n.a{n} = 1 %}}" for n in range(7000)),
    "elifs": "{% if false %}" + "{% elif false %}" * 10_000 + "{% endif %}",
    "spaces_before_a_statement": " " * 190_000 + "{%- if true %}{% endif %}",
    "lines_of_spaces": (" " * 100 + "\n") * 1900 + "{%- if true -%}{% endif %}",
    "many_statements": "{% set a = 1 %}" * 12_000,
    "many_prints": "{{ 1 }}" * 28_000,
    "empty_lines": "\n" * 190_000,
    "digits": "1" * 190_000,
    "builtin_often": "{% for i in range(9000) %}builtin(     {% endfor %}",
    "enable_and_spaces": "enable" + ("{% for i in range(2900) %}" + " " * 100 + "{% endfor %}"),
}
HARMLESS_TEMPLATES = {name: _HEAD + text for name, text in HARMLESS_TEMPLATES.items()}


def filled(text: str) -> str:
    """Return a text repeated until it is as long as a shader may be."""
    return text * (_SIZE // len(text))


SHADERS: dict[str, str] = {
    "brackets": filled("("),
    "braces": filled("{"),
    "index_upon_index": filled("x["),
    "operators": "const a = 1" + filled("+1"),
    "minus_upon_minus": "const a = " + "-" * 100_000 + "1;",
    "less_upon_less": filled("<"),
    "words_x": filled("x[0] "),
    "elses": "fn f() { if a {} " + "else if a {} " * 20_000 + "}",
    "workgroup_memory_of_16_gb": f"var<workgroup> w: array<f32, 4294967295>; {_MAIN}",
    "workgroup_of_2_32": "@compute @workgroup_size(4294967295) fn main() {}",
    "structs_that_double": "".join(f"struct S{n} {{ a: S{n + 1}, b: S{n + 1} }}\n" for n in range(30))
    + f"struct S30 {{ a: f32 }} var<workgroup> w: S0; {_MAIN}",
    "struct_of_20000": "struct S {"
    + ",".join(f"a{n}: f32" for n in range(20_000))
    + f"}} var<workgroup> w: S; {_MAIN}",
    "types_nested": "var<workgroup> w: " + "array<" * 20_000 + "f32" + ",2>" * 20_000 + f"; {_MAIN}",
    "variables_of_a_function": "fn f() { " + "var a: array<f32, 4>; " * 15_000 + "}",
    "constants_never_closed": filled("const a = "),
    "structs_never_closed": filled("struct S { "),
    "variables_never_closed": filled("var<private> w: array<"),
    "aliases_never_closed": filled("alias a = "),
}
"""Each of them is refused before a compiler sees it."""

HARMLESS_SHADERS: dict[str, str] = {
    "digits": filled("1"),
    "hexadecimal_digits": "0x" + filled("a"),
    "points": filled("1."),
    "exponents": filled("1e1"),
    "enables": filled("enable a "),
    "enable_lines": filled("enable\n"),
    "enable_list": filled("enable f16,"),
    "spaces_after_enable": "enable" + filled(" "),
    "spaces_after_at": "@" + filled(" "),
    "spaces_after_builtin": "builtin" + filled(" "),
    "spaces_after_a_name": "x" + filled(" "),
    "comments_nested": filled("/*"),
    "comments_nested_and_closed": filled("/*")[: _SIZE // 2] + filled("*/")[: _SIZE // 2],
    "slashes": filled("/"),
    "stars": "/*" + filled("*"),
    "at_signs": filled("@"),
    "semicolons": filled(";"),
    "functions": filled("fn f() {} "),
    "variables": "".join(f"var<workgroup> w{n}: f32;\n" for n in range(10_000)) + _MAIN,
    "constants_of_constants": "".join(f"const a{n} = a{n + 1} + a{n + 1};\n" for n in range(10_000))
    + "@compute @workgroup_size(a0) fn main() {}",
    "constants_in_a_circle": "const a = b + b; const b = a + a; @compute @workgroup_size(a) fn main() {}",
    "aliases_of_aliases": "".join(f"alias a{n} = array<a{n + 1}, 2>;\n" for n in range(9000))
    + f"var<workgroup> w: a0; {_MAIN}",
    "aliases_in_a_circle": f"alias a = array<a, 2>; var<workgroup> w: a; {_MAIN}",
    "number_of_5000_digits": "const a = " + "9" * 5000 + "; @compute @workgroup_size(a) fn main() {}",
    "shifts_of_shifts": "const a = 1" + " << 32" * 2000 + "; @compute @workgroup_size(a) fn main() {}",
    "products_of_products": "const a = 2" + " * 2" * 3000 + "; @compute @workgroup_size(a) fn main() {}",
}
