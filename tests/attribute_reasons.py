"""Reasons why attributes of ops have no effect in tfg: ATTRIBUTES by name, with patterns of op names."""

from __future__ import annotations

from typing import Final

_ANY = ""
_DATASETS = "Dataset|Iterator|NextElement|OptionalFromValue"
_DEBUG = "^Debug|^Copy"
_LINKS = "Send$|Recv$"
_QUANTIZED = "^Uniform"

ATTRIBUTES: Final[tuple[tuple[str, str, str], ...]] = (
    (_ANY, "use_locking", "a kernel has what it writes for itself, whatever the attribute says"),
    (_ANY, "parallel_iterations", "results do not depend on it: it bounds how many iterations wait at once"),
    (_ANY, "use_cudnn_on_gpu", "it chooses a library on a GPU"),
    (_ANY, "use_inter_op_parallelism", "it chooses the threads that call the function"),
    (_ANY, "max_intra_op_parallelism", "it bounds the threads of a kernel"),
    (_ANY, "swap_memory", "it moves memory between a GPU and the host"),
    (_ANY, "use_node_name_sharing", "a table without a shared name belongs to its node in any case"),
    (_ANY, "metadata", "it names the dataset in TensorFlow's own reports"),
    (_DATASETS, "output_types", "what elements are follows from the inputs; inference reads it where they are asked for"),
    (_DATASETS, "output_shapes", "what elements are follows from the inputs; inference reads it where they are asked for"),
    (_DATASETS, "deterministic", "elements always come in the deterministic order, which TensorFlow may give too"),
    (_DATASETS, "sloppy", "elements always come in the deterministic order, which TensorFlow may give too"),
    (_DATASETS, "parallel_copy", "it chooses the threads that copy elements"),
    (_DATASETS, "replicate_on_split", "it is for a service that divides the dataset among workers"),
    (_DATASETS, "log_warning", "it writes to TensorFlow's log"),
    (_DATASETS, "use_fallback", "it bounds what a rewrite for distribution may do"),
    (_DATASETS, "num_replicas", "it is a hint for the rewrite of a distributed dataset"),
    (_DATASETS, "num_experiments", "all branches give the same elements, the first is as good as the fastest"),
    (_DATASETS, "optimization_configs", "it tunes rewrites that keep the elements"),
    (_DATASETS, "has_captured_ref", "it keeps TensorFlow from rewriting the dataset"),
    (_DATASETS, "is_files", "it tells a service that the elements are names of files"),
    (_DATASETS, "stateful_whitelist", "it says which ops a graph of the dataset may have, which has all"),
    (_DATASETS, "use_default_device", "there is one device"),
    (_DATASETS, "use_unbounded_threadpool", "it chooses the threads that call the function"),
    (_DATASETS, "external_state_policy", "state outside of an iterator is not saved, whatever the attribute says"),
    ("^BoostedTreesCreateQuantileStreamResource$", "max_elements", "it bounds the values that training gathers, and none are"),
    ("^ModelDataset$", "algorithm|cpu_budget|ram_budget", "it tunes how much is computed ahead, and nothing is"),
    ("^PrefetchDataset$", "slack_period|legacy_autotune|buffer_size_min", "it tunes how much is computed ahead"),
    ("^SnapshotDataset", "reader_.*|writer_.*|num_.*_threads|shard_size_bytes|seed2?|shuffle_on_read",
     "it says how TensorFlow divides a snapshot among files, and tfg writes one"),
    ("^Queue|^BarrierTakeMany$", "timeout_ms", "TensorFlow's kernels do not support it"),
    ("^Batch$|^BatchFunction$|^Unbatch", "container|shared_name|num_batch_threads|max_enqueued_batches|batch_timeout_micros"
     "|batching_queue|grad_timeout_micros|timeout_micros|low_priority_.*|mixed_priority_policy|batch_padding_policy",
     "it says how callers wait for each other, and a session has one"),
    ("^BatchFunction$", "enable_large_batch_splitting", "TensorFlow refuses a batch of one caller that is too large"),
    ("Reader$", "container|shared_name|.*_bytes", "the op fails in TensorFlow too, or has one reader a node"),
    ("^MutableDenseHashTable$", "container|shared_name|value_.*|initial_.*|max_load_factor", "TensorFlow makes no such table"),
    ("^TensorMapErase$", "value_dtype", "the map knows the types of its values"),
    ("^SparseSegment", "sparse_gradient", "it chooses the form of a gradient, whose values are the same"),
    ("MatMul", "grad_[abxy]", "a note that TensorFlow's gradient functions leave, which no kernel reads"),
    ("Gather$|SetOperation$", "validate_indices", "indices are always checked"),
    (_DEBUG, "tensor_name|device_name|debug_urls|gated_grpc|debug_ops_spec|tfdbg_.*|op_name|output_slot|tensor_debug_mode"
     "|circular_buffer_size|io_.*|is_input|mute_if_healthy", "it says where a debugger's data go, and there is no debugger"),
    (_LINKS, "tensor_name|send_device.*|recv_device|client_terminated", "parts of a graph meet by the key, in one process"),
    (_QUANTIZED, "(lhs|rhs|input)_quantization_(min|max)_val|quantization_(min|max)_val",
     "TensorFlow's kernels check it, and clip to the range of the output only"),
    ("^Experimental|^ThreadPoolHandle$", "display_name", "it names threads"),
    ("^TensorSummary$", "display_name|description|labels", "TensorFlow's kernel does not write it"),
    ("^_(Device)?(Arg|Retval)$", "index", "functions have their arguments and results in order by it, before a call"),
    ("^(Ref)?Enter$", "frame_name|is_constant", "the plan reads it: which loop there is, and what stays in it"),
    ("^AccumulateNV2$", "shape", "the shape of the sum follows from the inputs"),
    ("PartitionedCall$", "config|config_proto|executor_type", "it configures TensorFlow's own executor"),
    ("^Restore", "preferred_shard", "a hint which file to open first"),
    ("^Sdca", "num_inner_iterations", "TensorFlow's kernel reads it and does nothing with it"),
    ("^Stage", "dtypes", "the stage's elements have their types"),
    ("CandidateSampler$|^ComputeAccidentalHits$", "seed2?|unique", "nothing is drawn"),
    ("^ApproxTopK$", "recall_target|reduction_input_size_override|aggregate_to_topk", "the exact largest values are found"),
    ("^CropAndResizeGradBoxes$", "method", "there is one"),
    ("^CustomAggregator$", "id|(min|max)_percentile", "what calibrates a model afterwards reads it, no kernel does"),
    ("^EagerPyFunc$", "is_async", "the op fails: the function is one of another process"),
    ("^Empty$", "init", "the values are zeros, which TensorFlow may leave undefined"),
    ("^LoadAndRemapMatrix$", "max_rows_in_memory", "it bounds how much is read at once"),
    ("^ParseSequenceExample$", "Ncontext_dense", "it counts a list that is there"),
    ("^PreventGradient$", "message", "gradients read it"),
    ("^QuantizedMatMul$", "Tactivation", "TensorFlow's kernel does not read it"),
    ("^VarHandleOp$", "debug_name|allowed_devices", "a variable is known by its shared name, on one device"),
    ("^XlaCallModule$", ".*", "the op fails: only an engine runs compiled code"),
    ("^_FusedConv", "num_args", "it counts a list that is there"),
)  # fmt: skip
