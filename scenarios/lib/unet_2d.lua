-- unet_2d.lua: UNet2DModel as diffusers 0.40 builds and runs it (models/unets/unet_2d.py, unet_2d_blocks.py, resnet.py,
-- attention_processor.py, embeddings.py), name by name.
local nn = use "nn"
local unet = {}

local function get_timestep_embedding(timesteps, embedding_dim, flip_sin_to_cos, downscale_freq_shift, scale)
  local half_dim = embedding_dim // 2
  local exponent = -math.log(10000) * torch.arange(0, half_dim, 1, torch.float32)
  exponent = exponent / (half_dim - downscale_freq_shift)
  local emb = torch.exp(exponent)
  emb = timesteps:unsqueeze(1):float() * emb:unsqueeze(0)
  emb = scale * emb
  emb = torch.cat({ torch.sin(emb), torch.cos(emb) }, -1)
  if flip_sin_to_cos then
    emb = torch.cat({ emb:slice(1, half_dim), emb:slice(1, nil, half_dim) }, -1)
  end
  return emb
end

local Timesteps = nn.class()
function Timesteps:init(num_channels)
  self.num_channels = num_channels
end
function Timesteps:forward(timesteps)
  local t_emb = get_timestep_embedding(timesteps, self.num_channels, true, 0, 1)
  return t_emb
end

local TimestepEmbedding = nn.class()
function TimestepEmbedding:init(in_channels, time_embed_dim)
  self.linear_1 = nn.Linear(in_channels, time_embed_dim)
  self.act = nn.SiLU()
  self.linear_2 = nn.Linear(time_embed_dim, time_embed_dim)
end
function TimestepEmbedding:forward(sample)
  sample = self.linear_1(sample)
  sample = self.act(sample)
  sample = self.linear_2(sample)
  return sample
end

local ResnetBlock2D = nn.class()
function ResnetBlock2D:init(config, in_channels, out_channels)
  self.training = true
  self.norm1 = nn.GroupNorm(config.groups, in_channels)
  self.conv1 = nn.Conv2d(in_channels, out_channels, 3, { padding = 1 })
  self.time_emb_proj = nn.Linear(config.time_embed_dim, out_channels)
  self.norm2 = nn.GroupNorm(config.groups, out_channels)
  self.dropout = nn.Dropout(config.dropout)
  self.conv2 = nn.Conv2d(out_channels, out_channels, 3, { padding = 1 })
  self.nonlinearity = nn.SiLU()
  if in_channels ~= out_channels then
    self.conv_shortcut = nn.Conv2d(in_channels, out_channels, 1)
  end
end
function ResnetBlock2D:forward(input_tensor, temb)
  local hidden_states = input_tensor
  hidden_states = self.norm1(hidden_states)
  hidden_states = self.nonlinearity(hidden_states)
  hidden_states = self.conv1(hidden_states)
  temb = self.nonlinearity(temb)
  temb = self.time_emb_proj(temb):unsqueeze(2):unsqueeze(3)
  hidden_states = hidden_states + temb
  hidden_states = self.norm2(hidden_states)
  hidden_states = self.nonlinearity(hidden_states)
  hidden_states = self.dropout(hidden_states)
  hidden_states = self.conv2(hidden_states)
  if self.conv_shortcut then
    if self.training then
      input_tensor = input_tensor:contiguous()
    end
    input_tensor = self.conv_shortcut(input_tensor)
  end
  local output_tensor = (input_tensor + hidden_states) / 1.0 -- output_scale_factor
  return output_tensor
end

local function attn_processor(attn, hidden_states)
  local residual = hidden_states
  local batch_size, channel, height, width = table.unpack(hidden_states.shape)
  hidden_states = hidden_states:view(batch_size, channel, height * width):transpose(1, 2)
  hidden_states = attn.group_norm(hidden_states:transpose(1, 2)):transpose(1, 2)
  local query = attn.to_q(hidden_states)
  local encoder_hidden_states = hidden_states
  local key = attn.to_k(encoder_hidden_states)
  local value = attn.to_v(encoder_hidden_states)
  local head_dim = key:size(-1) // attn.heads
  query = query:view(batch_size, -1, attn.heads, head_dim):transpose(1, 2)
  key = key:view(batch_size, -1, attn.heads, head_dim):transpose(1, 2)
  value = value:view(batch_size, -1, attn.heads, head_dim):transpose(1, 2)
  hidden_states = torch.scaled_dot_product_attention(query, key, value)
  hidden_states = hidden_states:transpose(1, 2):reshape(batch_size, -1, attn.heads * head_dim)
  hidden_states = hidden_states:to(query.dtype)
  hidden_states = attn.to_out[0](hidden_states)
  hidden_states = attn.to_out[1](hidden_states)
  hidden_states = hidden_states:transpose(-1, -2):reshape(batch_size, channel, height, width)
  hidden_states = hidden_states + residual
  hidden_states = hidden_states / 1.0 -- rescale_output_factor
  return hidden_states
end

local Attention = nn.class()
function Attention:init(config, channels)
  local inner_dim = channels // config.attention_head_dim * config.attention_head_dim
  self.heads = channels // config.attention_head_dim
  self.group_norm = nn.GroupNorm(config.groups, channels)
  self.to_q = nn.Linear(channels, inner_dim)
  self.to_k = nn.Linear(channels, inner_dim)
  self.to_v = nn.Linear(channels, inner_dim)
  self.to_out = nn.ModuleList { nn.Linear(inner_dim, channels), nn.Dropout(0.0) }
end
function Attention:forward(hidden_states)
  return (attn_processor(self, hidden_states))
end

local Downsample2D = nn.class()
function Downsample2D:init(channels)
  self.conv = nn.Conv2d(channels, channels, 3, { stride = 2, padding = 1 })
end
function Downsample2D:forward(hidden_states)
  hidden_states = self.conv(hidden_states)
  return hidden_states
end

local Upsample2D = nn.class()
function Upsample2D:init(channels)
  self.conv = nn.Conv2d(channels, channels, 3, { padding = 1 })
end
function Upsample2D:forward(hidden_states, output_size)
  if hidden_states:size(0) >= 64 then
    hidden_states = hidden_states:contiguous()
  end
  output_size = output_size or { 2 * hidden_states:size(2), 2 * hidden_states:size(3) }
  hidden_states = torch.upsample_nearest2d(hidden_states, output_size)
  hidden_states = self.conv(hidden_states)
  return hidden_states
end

-- A new tuple: `a` and then `b`.
local function joined(a, b)
  local tuple = { table.unpack(a) }
  for _, t in ipairs(b) do
    tuple[#tuple + 1] = t
  end
  return tuple
end

-- The blocks with attention register it before the resnets.
local function register(self, config, channels, resnets, attention)
  if attention then
    local attentions = {}
    for i = 1, #resnets do
      attentions[i] = Attention(config, channels)
    end
    self.attentions = nn.ModuleList(attentions)
  end
  self.resnets = nn.ModuleList(resnets)
end

-- DownBlock2D, AttnDownBlock2D
local DownBlock2D = nn.class()
function DownBlock2D:init(config, in_channels, out_channels, add_downsample, attention)
  local resnets = {}
  for i = 1, config.layers_per_block do
    resnets[i] = ResnetBlock2D(config, i == 1 and in_channels or out_channels, out_channels)
  end
  register(self, config, out_channels, resnets, attention)
  if add_downsample then
    self.downsamplers = nn.ModuleList { Downsample2D(out_channels) }
  end
end
function DownBlock2D:forward(hidden_states, temb)
  local output_states = {}
  for i = 0, self.resnets.length - 1 do
    hidden_states = self.resnets[i](hidden_states, temb)
    if self.attentions then
      hidden_states = self.attentions[i](hidden_states)
    end
    output_states = joined(output_states, { hidden_states })
  end
  if self.downsamplers then
    hidden_states = self.downsamplers[0](hidden_states)
    output_states = joined(output_states, { hidden_states })
  end
  return hidden_states, output_states
end

-- UpBlock2D, AttnUpBlock2D
local UpBlock2D = nn.class()
function UpBlock2D:init(config, in_channels, prev_output_channel, out_channels, add_upsample, attention)
  local resnets = {}
  local num_layers = config.layers_per_block + 1
  for i = 1, num_layers do
    local res_skip_channels = i == num_layers and in_channels or out_channels
    local resnet_in_channels = i == 1 and prev_output_channel or out_channels
    resnets[i] = ResnetBlock2D(config, resnet_in_channels + res_skip_channels, out_channels)
  end
  register(self, config, out_channels, resnets, attention)
  if add_upsample then
    self.upsamplers = nn.ModuleList { Upsample2D(out_channels) }
  end
end
function UpBlock2D:forward(hidden_states, res_hidden_states_tuple, temb, upsample_size)
  for i = 0, self.resnets.length - 1 do
    local res_hidden_states = res_hidden_states_tuple[#res_hidden_states_tuple]
    res_hidden_states_tuple = { table.unpack(res_hidden_states_tuple, 1, #res_hidden_states_tuple - 1) }
    hidden_states = torch.cat({ hidden_states, res_hidden_states }, 1)
    hidden_states = self.resnets[i](hidden_states, temb)
    if self.attentions then
      hidden_states = self.attentions[i](hidden_states)
    end
  end
  if self.upsamplers then
    hidden_states = self.upsamplers[0](hidden_states, upsample_size)
  end
  return hidden_states
end

local UNetMidBlock2D = nn.class()
function UNetMidBlock2D:init(config, channels)
  self.attentions = nn.ModuleList { Attention(config, channels) }
  self.resnets = nn.ModuleList { ResnetBlock2D(config, channels, channels), ResnetBlock2D(config, channels, channels) }
end
function UNetMidBlock2D:forward(hidden_states, temb)
  hidden_states = self.resnets[0](hidden_states, temb)
  hidden_states = self.attentions[0](hidden_states)
  hidden_states = self.resnets[1](hidden_states, temb)
  return hidden_states
end

-- Lists of numbers from `least` to `most`.
local function check_list(config, key, least, most)
  local list = config[key]
  if #list == 0 and key ~= "attention_levels" then
    error(key .. ": found no number, expected one at least", 0)
  end
  for _, value in ipairs(list) do
    if value < least or value > most then
      error(string.format("%s: found %d, expected %d to %d", key, value, least, most), 0)
    end
  end
end

-- config: in_channels out_channels block_out_channels layers_per_block attention_levels attention_head_dim groups dropout
unet.UNet2DModel = nn.class()
function unet.UNet2DModel:init(config)
  check_list(config, "block_out_channels", 1, 1 << 20)
  check_list(config, "attention_levels", 1, #config.block_out_channels)
  local channels = config.block_out_channels
  local attention = {}
  for _, level in ipairs(config.attention_levels) do
    attention[level] = true
  end
  config.time_embed_dim = 4 * channels[1]
  self.conv_in = nn.Conv2d(config.in_channels, channels[1], 3, { padding = 1 })
  self.time_proj = Timesteps(channels[1])
  self.time_embedding = TimestepEmbedding(channels[1], config.time_embed_dim)
  local down_blocks, up_blocks = {}, {}
  for i = 1, #channels do
    down_blocks[i] = DownBlock2D(config, channels[math.max(i - 1, 1)], channels[i], i < #channels, attention[i])
  end
  for i = #channels, 1, -1 do
    local add_upsample = i > 1
    up_blocks[#up_blocks + 1] =
      UpBlock2D(config, channels[math.max(i - 1, 1)], channels[math.min(i + 1, #channels)], channels[i], add_upsample, attention[i])
  end
  self.down_blocks = nn.ModuleList(down_blocks)
  self.up_blocks = nn.ModuleList(up_blocks)
  self.mid_block = UNetMidBlock2D(config, channels[#channels])
  self.conv_norm_out = nn.GroupNorm(config.groups, channels[1])
  self.conv_act = nn.SiLU()
  self.conv_out = nn.Conv2d(channels[1], config.out_channels, 3, { padding = 1 })
end
function unet.UNet2DModel:forward(sample, timestep)
  local timesteps = timestep
  timesteps = timesteps * torch.ones({ sample:size(0) }, timesteps.dtype)
  local t_emb = self.time_proj(timesteps)
  t_emb = t_emb:to(self.conv_in.weight.dtype)
  local emb = self.time_embedding(t_emb)
  local skip_sample = sample
  sample = self.conv_in(sample)
  local down_block_res_samples = { sample }
  local res_samples
  for i = 0, self.down_blocks.length - 1 do
    sample, res_samples = self.down_blocks[i](sample, emb)
    down_block_res_samples = joined(down_block_res_samples, res_samples)
  end
  sample = self.mid_block(sample, emb)
  skip_sample = nil
  for i = 0, self.up_blocks.length - 1 do
    local upsample_block = self.up_blocks[i]
    local n = #down_block_res_samples - upsample_block.resnets.length
    res_samples = { table.unpack(down_block_res_samples, n + 1) }
    down_block_res_samples = { table.unpack(down_block_res_samples, 1, n) }
    sample = upsample_block(sample, res_samples, emb)
  end
  sample = self.conv_norm_out(sample)
  sample = self.conv_act(sample)
  sample = self.conv_out(sample)
  return { sample = sample }
end

-- For the models that are built of the same parts.
unet.parts = {
  check_list = check_list,
  Timesteps = Timesteps,
  TimestepEmbedding = TimestepEmbedding,
  ResnetBlock2D = ResnetBlock2D,
  Downsample2D = Downsample2D,
  Upsample2D = Upsample2D,
  DownBlock2D = DownBlock2D,
  UpBlock2D = UpBlock2D,
  joined = joined,
}

return unet
