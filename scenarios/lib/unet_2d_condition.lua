-- unet_2d_condition.lua: UNet2DConditionModel as diffusers 0.42 builds and runs it (models/unets/unet_2d_condition.py,
-- unet_2d_blocks.py, transformers/transformer_2d.py, attention.py, attention_processor.py), name by name: the network of
-- Stable Diffusion.
local nn = use "nn"
local parts = use("unet_2d").parts
local condition = {}

-- AttnProcessor2_0, on sequences
local function attn_processor(attn, hidden_states, encoder_hidden_states)
  local residual = hidden_states
  local batch_size = hidden_states:size(0)
  local query = attn.to_q(hidden_states)
  if not encoder_hidden_states then
    encoder_hidden_states = hidden_states
  end
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
  hidden_states = hidden_states / 1.0 -- rescale_output_factor
  return hidden_states
end

local Attention = nn.class()
function Attention:init(query_dim, heads, head_dim, cross_attention_dim)
  self.heads = heads
  self.to_q = nn.Linear(query_dim, heads * head_dim, false)
  self.to_k = nn.Linear(cross_attention_dim or query_dim, heads * head_dim, false)
  self.to_v = nn.Linear(cross_attention_dim or query_dim, heads * head_dim, false)
  self.to_out = nn.ModuleList { nn.Linear(heads * head_dim, query_dim), nn.Dropout(0.0) }
end
function Attention:forward(hidden_states, encoder_hidden_states)
  return (attn_processor(self, hidden_states, encoder_hidden_states))
end

local GEGLU = nn.class()
function GEGLU:init(dim_in, dim_out)
  self.proj = nn.Linear(dim_in, 2 * dim_out)
end
function GEGLU:forward(hidden_states)
  hidden_states = self.proj(hidden_states)
  local gate
  hidden_states, gate = hidden_states:chunk(2, -1)
  return hidden_states * torch.gelu(gate)
end

local FeedForward = nn.class()
function FeedForward:init(dim)
  self.net = nn.ModuleList { GEGLU(dim, 4 * dim), nn.Dropout(0.0), nn.Linear(4 * dim, dim) }
end
function FeedForward:forward(hidden_states)
  for i = 0, self.net.length - 1 do
    hidden_states = self.net[i](hidden_states)
  end
  return hidden_states
end

local BasicTransformerBlock = nn.class()
function BasicTransformerBlock:init(dim, heads, cross_attention_dim)
  self.norm1 = nn.LayerNorm(dim)
  self.attn1 = Attention(dim, heads, dim // heads)
  self.norm2 = nn.LayerNorm(dim)
  self.attn2 = Attention(dim, heads, dim // heads, cross_attention_dim)
  self.norm3 = nn.LayerNorm(dim)
  self.ff = FeedForward(dim)
end
function BasicTransformerBlock:forward(hidden_states, encoder_hidden_states)
  local norm_hidden_states = self.norm1(hidden_states)
  local attn_output = self.attn1(norm_hidden_states)
  hidden_states = attn_output + hidden_states
  norm_hidden_states = self.norm2(hidden_states)
  attn_output = self.attn2(norm_hidden_states, encoder_hidden_states)
  hidden_states = attn_output + hidden_states
  norm_hidden_states = self.norm3(hidden_states)
  local ff_output = self.ff(norm_hidden_states)
  hidden_states = ff_output + hidden_states
  return hidden_states
end

local Transformer2DModel = nn.class()
function Transformer2DModel:init(config, channels, heads, depth)
  self.linear_projection = config.use_linear_projection
  self.norm = nn.GroupNorm(config.groups, channels)
  if self.linear_projection then
    self.proj_in = nn.Linear(channels, channels)
  else
    self.proj_in = nn.Conv2d(channels, channels, 1)
  end
  local blocks = {}
  for i = 1, depth do
    blocks[i] = BasicTransformerBlock(channels, heads, config.cross_attention_dim)
  end
  self.transformer_blocks = nn.ModuleList(blocks)
  if self.linear_projection then
    self.proj_out = nn.Linear(channels, channels)
  else
    self.proj_out = nn.Conv2d(channels, channels, 1)
  end
end

local function operate_on_continuous_inputs(self, hidden_states)
  local batch, inner_dim, height, width = table.unpack(hidden_states.shape)
  hidden_states = self.norm(hidden_states)
  if self.linear_projection then
    hidden_states = hidden_states:permute(0, 2, 3, 1):reshape(batch, height * width, inner_dim)
    hidden_states = self.proj_in(hidden_states)
  else
    hidden_states = self.proj_in(hidden_states)
    hidden_states = hidden_states:permute(0, 2, 3, 1):reshape(batch, height * width, inner_dim)
  end
  return hidden_states
end

local function get_output_for_continuous_inputs(self, hidden_states, residual)
  local batch, inner_dim, height, width = table.unpack(residual.shape)
  if self.linear_projection then
    hidden_states = self.proj_out(hidden_states)
    hidden_states = hidden_states:reshape(batch, height, width, inner_dim):permute(0, 3, 1, 2):contiguous()
  else
    hidden_states = hidden_states:reshape(batch, height, width, inner_dim):permute(0, 3, 1, 2):contiguous()
    hidden_states = self.proj_out(hidden_states)
  end
  local output = hidden_states + residual
  return output
end

function Transformer2DModel:forward(hidden_states, encoder_hidden_states)
  local residual = hidden_states
  hidden_states = operate_on_continuous_inputs(self, hidden_states)
  for i = 0, self.transformer_blocks.length - 1 do
    hidden_states = self.transformer_blocks[i](hidden_states, encoder_hidden_states)
  end
  local output = get_output_for_continuous_inputs(self, hidden_states, residual)
  return output
end

-- The blocks register their attention before the resnets.
local function register(self, config, channels, heads, depth, resnets, count)
  local attentions = {}
  for i = 1, count do
    attentions[i] = Transformer2DModel(config, channels, heads, depth)
  end
  self.attentions = nn.ModuleList(attentions)
  self.resnets = nn.ModuleList(resnets)
end

local CrossAttnDownBlock2D = nn.class()
function CrossAttnDownBlock2D:init(config, in_channels, out_channels, add_downsample, heads, depth)
  local resnets = {}
  for i = 1, config.layers_per_block do
    resnets[i] = parts.ResnetBlock2D(config, i == 1 and in_channels or out_channels, out_channels)
  end
  register(self, config, out_channels, heads, depth, resnets, #resnets)
  if add_downsample then
    self.downsamplers = nn.ModuleList { parts.Downsample2D(out_channels) }
  end
end
function CrossAttnDownBlock2D:forward(hidden_states, temb, encoder_hidden_states)
  local output_states = {}
  for i = 0, self.resnets.length - 1 do
    hidden_states = self.resnets[i](hidden_states, temb)
    hidden_states = self.attentions[i](hidden_states, encoder_hidden_states)
    output_states = parts.joined(output_states, { hidden_states })
  end
  if self.downsamplers then
    hidden_states = self.downsamplers[0](hidden_states)
    output_states = parts.joined(output_states, { hidden_states })
  end
  return hidden_states, output_states
end

local CrossAttnUpBlock2D = nn.class()
function CrossAttnUpBlock2D:init(config, in_channels, prev_output_channel, out_channels, add_upsample, heads, depth)
  local resnets = {}
  local num_layers = config.layers_per_block + 1
  for i = 1, num_layers do
    local res_skip_channels = i == num_layers and in_channels or out_channels
    local resnet_in_channels = i == 1 and prev_output_channel or out_channels
    resnets[i] = parts.ResnetBlock2D(config, resnet_in_channels + res_skip_channels, out_channels)
  end
  register(self, config, out_channels, heads, depth, resnets, #resnets)
  if add_upsample then
    self.upsamplers = nn.ModuleList { parts.Upsample2D(out_channels) }
  end
end
function CrossAttnUpBlock2D:forward(hidden_states, res_hidden_states_tuple, temb, upsample_size, encoder_hidden_states)
  for i = 0, self.resnets.length - 1 do
    local res_hidden_states = res_hidden_states_tuple[#res_hidden_states_tuple]
    res_hidden_states_tuple = { table.unpack(res_hidden_states_tuple, 1, #res_hidden_states_tuple - 1) }
    hidden_states = torch.cat({ hidden_states, res_hidden_states }, 1)
    hidden_states = self.resnets[i](hidden_states, temb)
    hidden_states = self.attentions[i](hidden_states, encoder_hidden_states)
  end
  if self.upsamplers then
    hidden_states = self.upsamplers[0](hidden_states, upsample_size)
  end
  return hidden_states
end

local UNetMidBlock2DCrossAttn = nn.class()
function UNetMidBlock2DCrossAttn:init(config, channels, heads, depth)
  local resnets = { parts.ResnetBlock2D(config, channels, channels), parts.ResnetBlock2D(config, channels, channels) }
  register(self, config, channels, heads, depth, resnets, 1)
end
function UNetMidBlock2DCrossAttn:forward(hidden_states, temb, encoder_hidden_states)
  hidden_states = self.resnets[0](hidden_states, temb)
  hidden_states = self.attentions[0](hidden_states, encoder_hidden_states)
  hidden_states = self.resnets[1](hidden_states, temb)
  return hidden_states
end

local function check(config)
  parts.check_list(config, "block_out_channels", 1, 1 << 20)
  parts.check_list(config, "attention_levels", 1, #config.block_out_channels)
  parts.check_list(config, "heads", 1, 1 << 20)
  parts.check_list(config, "depth", 0, 10000)
  for i, channels in ipairs(config.block_out_channels) do
    local heads = config.heads[math.min(i, #config.heads)]
    if channels % config.groups ~= 0 then
      error(string.format("block_out_channels: found %d, expected a multiple of groups = %d", channels, config.groups), 0)
    elseif channels < heads then
      error(string.format("heads: found %d, expected at most the %d channels of level %d", heads, channels, i), 0)
    end
  end
end

-- config: in_channels out_channels block_out_channels layers_per_block attention_levels heads (one number, or one a level)
-- depth (the same) cross_attention_dim use_linear_projection groups dropout
condition.UNet2DConditionModel = nn.class()
function condition.UNet2DConditionModel:init(config)
  check(config)
  local channels = config.block_out_channels
  local attention = {}
  for _, level in ipairs(config.attention_levels) do
    attention[level] = true
  end
  local function at(list, level)
    return list[math.min(level, #list)]
  end
  config.time_embed_dim = 4 * channels[1]
  self.conv_in = nn.Conv2d(config.in_channels, channels[1], 3, { padding = 1 })
  self.time_proj = parts.Timesteps(channels[1])
  self.time_embedding = parts.TimestepEmbedding(channels[1], config.time_embed_dim)
  local down_blocks, up_blocks = {}, {}
  for i = 1, #channels do
    local class = attention[i] and CrossAttnDownBlock2D or parts.DownBlock2D
    local heads, depth = at(config.heads, i), at(config.depth, i)
    down_blocks[i] = class(config, channels[math.max(i - 1, 1)], channels[i], i < #channels, attention[i] and heads, depth)
  end
  for i = #channels, 1, -1 do
    local class = attention[i] and CrossAttnUpBlock2D or parts.UpBlock2D
    local previous = channels[math.min(i + 1, #channels)]
    local heads, depth = at(config.heads, i), at(config.depth, i)
    up_blocks[#up_blocks + 1] =
      class(config, channels[math.max(i - 1, 1)], previous, channels[i], i > 1, attention[i] and heads, depth)
  end
  self.has_cross_attention = attention
  self.down_blocks = nn.ModuleList(down_blocks)
  self.up_blocks = nn.ModuleList(up_blocks)
  self.mid_block =
    UNetMidBlock2DCrossAttn(config, channels[#channels], at(config.heads, #channels), at(config.depth, #channels))
  self.conv_norm_out = nn.GroupNorm(config.groups, channels[1])
  self.conv_act = nn.SiLU()
  self.conv_out = nn.Conv2d(channels[1], config.out_channels, 3, { padding = 1 })
end

local function get_time_embed(self, sample, timestep)
  local timesteps = timestep
  timesteps = timesteps:expand(sample:size(0))
  local t_emb = self.time_proj(timesteps)
  t_emb = t_emb:to(sample.dtype)
  return t_emb
end

function condition.UNet2DConditionModel:forward(sample, timestep, encoder_hidden_states)
  local levels = self.down_blocks.length
  local factor = 2 ^ (levels - 1)
  local forward_upsample_size = sample:size(2) % factor ~= 0 or sample:size(3) % factor ~= 0
  local t_emb = get_time_embed(self, sample, timestep)
  local emb = self.time_embedding(t_emb)
  sample = self.conv_in(sample)
  local down_block_res_samples = { sample }
  local res_samples
  for i = 0, levels - 1 do
    if self.has_cross_attention[i + 1] then
      sample, res_samples = self.down_blocks[i](sample, emb, encoder_hidden_states)
    else
      sample, res_samples = self.down_blocks[i](sample, emb)
    end
    down_block_res_samples = parts.joined(down_block_res_samples, res_samples)
  end
  sample = self.mid_block(sample, emb, encoder_hidden_states)
  local upsample_size
  for i = 0, levels - 1 do
    local upsample_block = self.up_blocks[i]
    local n = #down_block_res_samples - upsample_block.resnets.length
    res_samples = { table.unpack(down_block_res_samples, n + 1) }
    down_block_res_samples = { table.unpack(down_block_res_samples, 1, n) }
    if i < levels - 1 and forward_upsample_size then
      local shape = down_block_res_samples[n].shape
      upsample_size = { shape[3], shape[4] }
    end
    if self.has_cross_attention[levels - i] then
      sample = upsample_block(sample, res_samples, emb, upsample_size, encoder_hidden_states)
    else
      sample = upsample_block(sample, res_samples, emb, upsample_size)
    end
  end
  sample = self.conv_norm_out(sample)
  sample = self.conv_act(sample)
  sample = self.conv_out(sample)
  return { sample = sample }
end

return condition
