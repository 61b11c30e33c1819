-- config_families.lua: the models that a config of Transformers can name, a row a model_type:
--   architecture   its head, as Transformers names the class; other_architectures: those that are known beside
--   task           what goes in and what a step is: config_tasks.lua
--   keys           KEY, DEFAULT, ... in order: what the config can set, with the defaults of its configuration class (5.24)
--   aliases        KEY = another name of it
--   inert          keys of no matter to memory, beside those of config_keys.lua
--   refused        KEY = { when(value), what to do }, likewise
--   theta          rope_theta, for models with rotary embeddings; local_theta: of the layers that slide
--   learned_positions   the key that says how long a sequence can be; unused_positions: so many are not for tokens
--   rope_kinds     kinds of scaling, when not all; renamed_kinds: OLD = NEW
--   parameters     rows for parameters{} that are no keys
--   only_eager     there is no other attention
--   has_cache      it can generate with a key/value cache
--   lora_targets   layers that PEFT gives adapters to when nothing says which; linear_layers: all but the head
--   prepare        function(config): defaults of keys that hang on others
--   build          function(p) -> model; p: the parameters' values, with what config_rope.complete adds
local rows = {}

for _, library in ipairs { "config_decoders", "config_language", "config_encoders" } do
  for model_type, row in pairs(use(library)) do
    rows[model_type] = row
  end
end

return rows
