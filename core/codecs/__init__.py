"""File and wire formats below protobuf (varints, Snappy, TFRecord, PNG, JPEG headers, WAV), hashes and text encodings.

Bytes in, bytes or arrays out. Knows neither graphs nor ops.
"""
