"""File and wire formats below protobuf: varints, CRC-32C, Snappy, TFRecord, LMDB, PNG, JPEG headers, WAV.

Bytes in, bytes or arrays out. Knows neither graphs nor ops.
"""
