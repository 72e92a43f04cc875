"""Cases of the parsing_json family."""

from tests.opcases import case
from tests.opcases import string_array as strings

TEXTS = (
    '{"features":{"feature":{"a":{"int64List":{"value":["1",2,-3]}}}}}',
    '{"features":{"feature":{"a":{"float_list":{"value":[1.5,"NaN",2]}}}}}',
    '{"features":{"feature":{"a":{"bytes_list":{"value":["YWJj"]}}}}}',
    '{"features":{"feature":{"a":{}}}}',
    '{"features":{}}',
    "{}",
    "x",
    '{"foo":1}',
    '{"features":{"feature":{"a":{"int64List":{"value":[1.5]}}}}}',
)
CASES = [case("DecodeJSONExample", strings([text]), key=text) for text in TEXTS]
