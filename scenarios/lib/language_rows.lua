-- language_rows.lua: the parameters of what a script does with a causal language model, apart from the files that do it: those
-- are loaded when they are wanted.
local rows = use "rows"
local language_rows = {}

language_rows.generation = rows.list {
  { "mode", "train", "what runs", one_of = { "train", "generate" } },
  { "prompt", 128, "generate: tokens of the prompt", min = 1 },
  { "new_tokens", 64, "generate: tokens after it", min = 0, max = 1000000 },
  { "cache", "dynamic", "generate: the key/value cache: grows, has its final size at once, or blocks that requests share (vLLM)",
    one_of = { "dynamic", "static", "paged" } },
  { "generate_call", false, "generate: by model.generate() in place of a loop that calls the model" },
  { "end_tokens", 1, "generate_call: tokens that end a text (eos_token_id); 0 = none set, nor another special token", min = 0, max = 64 },
}

language_rows.paged = rows.list {
  { "requests", 0, "paged: requests in all; 0 = batch", min = 0, max = 100000 },
  { "arrive_every", 0, "paged: a request comes every so many steps; 0 = all at once", min = 0 },
  { "shared_prefix", 0, "paged: first tokens that all prompts have in common", min = 0 },
  { "block_size", 16, "paged: tokens a block", min = 1, max = 4096 },
  { "gpu_memory_utilization", 0.9, "paged: part of the card that may be used", min = 0, max = 1 },
  { "max_batched_tokens", 2048, "paged: tokens of one step at most (max_num_batched_tokens)", min = 1, max = 1000000 },
  { "max_seqs", 256, "paged: requests of one step at most (max_num_seqs)", min = 1, max = 100000 },
  { "preemption", "recompute", "paged: what a request loses when blocks run out", one_of = { "recompute", "swap" } },
}

language_rows.losses = rows.list {
  { "loss", "model", "cross entropy: within the model; of all logits; of chunks, recomputed or not; linear_cross_entropy",
    one_of = { "model", "full", "chunked", "chunked_checkpoint", "linear" } },
  { "loss_chunks", 8, "chunked: parts of the sequence", min = 1, max = 8 },
  { "upcast_logits", true, "full, chunked: logits as float32" },
}

language_rows.training = rows.list {
  { "keep_outputs", true, "a name of the step holds the model's outputs through the backward (out = model(...))" },
  { "batches", {}, "sequences of each step in turn, in place of batch and steps" },
  { "lengths", {}, "tokens a sequence of each step in turn, in place of seq and steps" },
  { "length_min", 0, "each step's tokens a sequence are drawn, from so many to seq, evenly; 0 = seq", min = 0 },
  { "length_seed", 1, "of that drawing: the same seed gives the same lengths", min = 0, max = 2147483647 },
  { "eval_every", 0, "evaluate after every so many steps, but the last; 0 = never", min = 0 },
  { "eval_batch", 8, "sequences an evaluation", min = 1 },
  { "catch_oom", false, "a step that runs out of memory is given up: its gradients are freed and the next one runs" },
  { "memory_fraction", 1.0, "torch.cuda.set_per_process_memory_fraction at the start; 1 = not called", min = 0, max = 1 },
}

return language_rows
