# Made by scripts/make_protos.py; do not edit.
from google.protobuf import descriptor as _descriptor
from google.protobuf import descriptor_pool as _descriptor_pool
from google.protobuf import symbol_database as _symbol_database
from google.protobuf.internal import builder as _builder

_sym_db = _symbol_database.Default()


from . import graph_pb2 as tfg_dot_graph__pb2
from . import run_metadata_pb2 as tfg_dot_run__metadata__pb2


DESCRIPTOR = _descriptor_pool.Default().AddSerializedFile(b'\n\x11tfg/cluster.proto\x12\x03tfg\x1a\x0ftfg/graph.proto\x1a\x16tfg/run_metadata.proto\"d\n\rSessionConfig\x12\x16\n\x0e\x64\x65vice_filters\x18\x04 \x03(\t\x12\x1c\n\x14\x61llow_soft_placement\x18\x07 \x01(\x08\x12\x1d\n\x15isolate_session_state\x18\x0f \x01(\x08\"l\n\x14\x43reateSessionRequest\x12 \n\tgraph_def\x18\x01 \x01(\x0b\x32\r.tfg.GraphDef\x12\"\n\x06\x63onfig\x18\x02 \x01(\x0b\x32\x12.tfg.SessionConfig\x12\x0e\n\x06target\x18\x03 \x01(\t\"F\n\x15\x43reateSessionResponse\x12\x16\n\x0esession_handle\x18\x01 \x01(\t\x12\x15\n\rgraph_version\x18\x02 \x01(\x03\"o\n\x14\x45xtendSessionRequest\x12\x16\n\x0esession_handle\x18\x01 \x01(\t\x12 \n\tgraph_def\x18\x02 \x01(\x0b\x32\r.tfg.GraphDef\x12\x1d\n\x15\x63urrent_graph_version\x18\x03 \x01(\x03\"2\n\x15\x45xtendSessionResponse\x12\x19\n\x11new_graph_version\x18\x04 \x01(\x03\"B\n\x10NamedTensorProto\x12\x0c\n\x04name\x18\x01 \x01(\t\x12 \n\x06tensor\x18\x02 \x01(\x0b\x32\x10.tfg.TensorProto\"\xc9\x01\n\nRunOptions\x12/\n\x0btrace_level\x18\x01 \x01(\x0e\x32\x1a.tfg.RunOptions.TraceLevel\x12\x15\n\rtimeout_in_ms\x18\x02 \x01(\x03\x12\x1f\n\x17output_partition_graphs\x18\x05 \x01(\x08\"R\n\nTraceLevel\x12\x0c\n\x08NO_TRACE\x10\x00\x12\x12\n\x0eSOFTWARE_TRACE\x10\x01\x12\x12\n\x0eHARDWARE_TRACE\x10\x02\x12\x0e\n\nFULL_TRACE\x10\x03\"\xe5\x01\n\x0eRunStepRequest\x12\x16\n\x0esession_handle\x18\x01 \x01(\t\x12#\n\x04\x66\x65\x65\x64\x18\x02 \x03(\x0b\x32\x15.tfg.NamedTensorProto\x12\r\n\x05\x66\x65tch\x18\x03 \x03(\t\x12\x0e\n\x06target\x18\x04 \x03(\t\x12 \n\x07options\x18\x05 \x01(\x0b\x32\x0f.tfg.RunOptions\x12\x1a\n\x12partial_run_handle\x18\x06 \x01(\t\x12%\n\x1dstore_errors_in_response_body\x18\x07 \x01(\x08\x12\x12\n\nrequest_id\x18\x08 \x01(\x03\"\x8f\x01\n\x0fRunStepResponse\x12%\n\x06tensor\x18\x01 \x03(\x0b\x32\x15.tfg.NamedTensorProto\x12\"\n\x08metadata\x18\x02 \x01(\x0b\x32\x10.tfg.RunMetadata\x12\x13\n\x0bstatus_code\x18\x03 \x01(\x05\x12\x1c\n\x14status_error_message\x18\x04 \x01(\t\"q\n\x16PartialRunSetupRequest\x12\x16\n\x0esession_handle\x18\x01 \x01(\t\x12\x0c\n\x04\x66\x65\x65\x64\x18\x02 \x03(\t\x12\r\n\x05\x66\x65tch\x18\x03 \x03(\t\x12\x0e\n\x06target\x18\x04 \x03(\t\x12\x12\n\nrequest_id\x18\x05 \x01(\x03\"5\n\x17PartialRunSetupResponse\x12\x1a\n\x12partial_run_handle\x18\x01 \x01(\t\"-\n\x13\x43loseSessionRequest\x12\x16\n\x0esession_handle\x18\x01 \x01(\t\"\x16\n\x14\x43loseSessionResponse\"9\n\x0cResetRequest\x12\x11\n\tcontainer\x18\x01 \x03(\t\x12\x16\n\x0e\x64\x65vice_filters\x18\x02 \x03(\t\"\x0f\n\rResetResponse\",\n\x12ListDevicesRequest\x12\x16\n\x0esession_handle\x18\x01 \x01(\t\"~\n\x10\x44\x65viceAttributes\x12\x0c\n\x04name\x18\x01 \x01(\t\x12\x13\n\x0b\x64\x65vice_type\x18\x02 \x01(\t\x12\x14\n\x0cmemory_limit\x18\x04 \x01(\x03\x12\x13\n\x0bincarnation\x18\x06 \x01(\x06\x12\x1c\n\x14physical_device_desc\x18\x07 \x01(\t\"p\n\x13ListDevicesResponse\x12+\n\x0clocal_device\x18\x01 \x03(\x0b\x32\x15.tfg.DeviceAttributes\x12,\n\rremote_device\x18\x02 \x03(\x0b\x32\x15.tfg.DeviceAttributesb\x06proto3')

_globals = globals()
_builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, _globals)
_builder.BuildTopDescriptorsAndMessages(DESCRIPTOR, __name__, _globals)
if not _descriptor._USE_C_DESCRIPTORS:
  DESCRIPTOR._loaded_options = None
  _globals['_SESSIONCONFIG']._serialized_start=67
  _globals['_SESSIONCONFIG']._serialized_end=167
  _globals['_CREATESESSIONREQUEST']._serialized_start=169
  _globals['_CREATESESSIONREQUEST']._serialized_end=277
  _globals['_CREATESESSIONRESPONSE']._serialized_start=279
  _globals['_CREATESESSIONRESPONSE']._serialized_end=349
  _globals['_EXTENDSESSIONREQUEST']._serialized_start=351
  _globals['_EXTENDSESSIONREQUEST']._serialized_end=462
  _globals['_EXTENDSESSIONRESPONSE']._serialized_start=464
  _globals['_EXTENDSESSIONRESPONSE']._serialized_end=514
  _globals['_NAMEDTENSORPROTO']._serialized_start=516
  _globals['_NAMEDTENSORPROTO']._serialized_end=582
  _globals['_RUNOPTIONS']._serialized_start=585
  _globals['_RUNOPTIONS']._serialized_end=786
  _globals['_RUNOPTIONS_TRACELEVEL']._serialized_start=704
  _globals['_RUNOPTIONS_TRACELEVEL']._serialized_end=786
  _globals['_RUNSTEPREQUEST']._serialized_start=789
  _globals['_RUNSTEPREQUEST']._serialized_end=1018
  _globals['_RUNSTEPRESPONSE']._serialized_start=1021
  _globals['_RUNSTEPRESPONSE']._serialized_end=1164
  _globals['_PARTIALRUNSETUPREQUEST']._serialized_start=1166
  _globals['_PARTIALRUNSETUPREQUEST']._serialized_end=1279
  _globals['_PARTIALRUNSETUPRESPONSE']._serialized_start=1281
  _globals['_PARTIALRUNSETUPRESPONSE']._serialized_end=1334
  _globals['_CLOSESESSIONREQUEST']._serialized_start=1336
  _globals['_CLOSESESSIONREQUEST']._serialized_end=1381
  _globals['_CLOSESESSIONRESPONSE']._serialized_start=1383
  _globals['_CLOSESESSIONRESPONSE']._serialized_end=1405
  _globals['_RESETREQUEST']._serialized_start=1407
  _globals['_RESETREQUEST']._serialized_end=1464
  _globals['_RESETRESPONSE']._serialized_start=1466
  _globals['_RESETRESPONSE']._serialized_end=1481
  _globals['_LISTDEVICESREQUEST']._serialized_start=1483
  _globals['_LISTDEVICESREQUEST']._serialized_end=1527
  _globals['_DEVICEATTRIBUTES']._serialized_start=1529
  _globals['_DEVICEATTRIBUTES']._serialized_end=1655
  _globals['_LISTDEVICESRESPONSE']._serialized_start=1657
  _globals['_LISTDEVICESRESPONSE']._serialized_end=1769
