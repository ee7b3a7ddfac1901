"""Whether JSON is as a schema says: of JSON Schema (draft 7) what the schemas beside this file use."""

import functools
import json
import re
from pathlib import Path

_TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool,
          "null": type(None)}


@functools.cache
def read_schema(name):
    return json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


def problem(value, schema, root=None, place=""):
    """(place, what is wrong there) of the first thing in `value` that is not as `schema` has it; None: there is none.
    `root`: the schema with the definitions."""
    root = root or schema
    if "$ref" in schema:
        return problem(value, root["definitions"][schema["$ref"].rpartition("/")[2]], root, place)
    wrong = _of_value(value, schema)
    if wrong:
        return place, f"{value!r} {wrong}"
    for one in schema.get("allOf", ()):
        if found := problem(value, one, root, place):
            return found
    if isinstance(value, dict):
        return _of_object(value, schema, root, place)
    items = schema.get("items") if isinstance(value, list) else None
    for index, item in enumerate(value if items else ()):
        if found := problem(item, items, root, f"{place}[{index}]"):
            return found
    return None


def _of_value(value, schema):
    """What is wrong with the value itself; None: nothing."""
    types = schema.get("type")
    if types and not any(_is(value, one) for one in ([types] if isinstance(types, str) else types)):
        return f"is not of type {' or '.join(map(repr, [types] if isinstance(types, str) else types))}"
    if "enum" in schema and value not in schema["enum"]:
        return f"is not one of {schema['enum']}"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        return f"does not match {schema['pattern']!r}"
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    if value < schema.get("minimum", value) or value <= schema.get("exclusiveMinimum", value - 1):
        return f"is less than the minimum of {schema.get('minimum', schema.get('exclusiveMinimum'))}"
    return f"is greater than the maximum of {schema['maximum']}" if value > schema.get("maximum", value) else None


def _is(value, name):
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _of_object(value, schema, root, place):
    for name in schema.get("required", ()):
        if name not in value:
            return place, f"{name!r} is a required property"
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    patterns = schema.get("patternProperties", {})
    for name, each in value.items():
        fitting = next((within for pattern, within in patterns.items() if re.search(pattern, name)), others)
        within = properties.get(name, fitting)
        if within and (found := problem(each, within, root, f"{place}.{name}" if place else name)):
            return found
    return None
