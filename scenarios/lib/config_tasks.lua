-- config_tasks.lua: what goes into the models of config_families.lua, and the parameters of that.
--   parameters   function(p) -> rows; p: the config's keys, as they stand
--   inputs       function(p) -> x, labels: the model's arguments
local config_tasks = {}

local function ids(batch, length, name)
  return torch.zeros({ batch, length }, torch.int64):as("input", name or "input_ids")
end

local batch = { "batch", 1, "sequences a step (a micro-batch)", min = 1 }

-- As long as the model allows, within reason.
local function length(positions)
  return math.max(1, math.min(positions, 2048))
end

-- Labels are the input.
config_tasks.language = {
  parameters = function(keys, family)
    local positions = keys.max_position_embeddings or keys.n_positions or 2048
    return { batch, { "seq", length(positions - (family.unused_positions or 0)), "tokens a sequence", min = 1 } }
  end,
  inputs = function(p)
    local input_ids = ids(p.batch, p.seq)
    return input_ids, input_ids
  end,
}
config_tasks.translation = {
  parameters = function()
    return {
      batch,
      { "seq", 512, "tokens of the source", min = 1 },
      { "target_seq", 0, "tokens of the target; 0 = seq", min = 0 },
    }
  end,
  inputs = function(p)
    local input_ids = ids(p.batch, p.seq)
    if p.target_seq == 0 then
      return input_ids, input_ids
    end
    return input_ids, ids(p.batch, p.target_seq, "labels")
  end,
}

-- The classes that a config names, or counts.
function config_tasks.labels(config)
  local labels = 0
  for _ in pairs(type(config.id2label) == "table" and config.id2label or {}) do
    labels = labels + 1
  end
  local given = type(config.num_labels) == "number" and math.tointeger(config.num_labels)
  return labels > 0 and labels or given or 2
end

-- Masked tokens, or classes.
config_tasks.text = {
  parameters = function(keys, family, config)
    local rows = config_tasks.language.parameters(keys, family)
    rows[#rows + 1] = { "labels", config_tasks.labels(config), "classes, for a head that classifies", min = 1 }
    return rows
  end,
  inputs = function(p)
    local input_ids = ids(p.batch, p.seq)
    local head = p.architecture
    if head:sub(-17) == "QuestionAnswering" then
      local first = torch.zeros({ p.batch }, torch.int64):as("input", "start_positions")
      local last = torch.zeros({ p.batch }, torch.int64):as("input", "end_positions")
      return input_ids, { first, last }
    end
    if head:sub(-22) == "SequenceClassification" then
      return input_ids, torch.zeros({ p.batch }, torch.int64):as("input", "labels")
    end
    return input_ids, input_ids
  end,
}

config_tasks.image = {
  parameters = function(_, _, config)
    return {
      { "batch", 1, "images a step (a micro-batch)", min = 1 },
      { "labels", config_tasks.labels(config), "classes: the config's id2label or num_labels", min = 1 },
    }
  end,
  inputs = function(p)
    local pixel_values = torch.zeros({ p.batch, p.num_channels, p.image_size, p.image_size }, p.dtype)
    return pixel_values:as("input", "pixel_values"), torch.zeros({ p.batch }, torch.int64):as("input", "labels")
  end,
}

-- A spectrogram is as long as the encoder's positions, two frames each.
config_tasks.speech = {
  parameters = function(keys)
    return {
      { "batch", 1, "recordings a step (a micro-batch)", min = 1 },
      { "seq", keys.max_target_positions, "tokens of the text", min = 1 },
    }
  end,
  inputs = function(p)
    local input_features = torch.zeros({ p.batch, p.num_mel_bins, 2 * p.max_source_positions }, p.dtype)
    return input_features:as("input", "input_features"), ids(p.batch, p.seq, "labels")
  end,
}

return config_tasks
