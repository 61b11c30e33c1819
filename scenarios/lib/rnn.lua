-- rnn.lua: recurrent layers as torch/nn/modules/rnn.py and, without cuDNN, ATen/native/RNN.cpp compose them.
local nn = use "nn"
local rnn = {}

-- LSTMCell on a GPU: two products and one fused kernel.
local function lstm_cell(input, hx, cx, params)
  local igates = torch.matmul(input, params.w_ih:t())
  local hgates = torch.matmul(hx, params.w_hh:t())
  local hy, cy, workspace = torch.thnn_fused_lstm_cell(igates, hgates, cx, params.b_ih, params.b_hh)
  return hy, cy
end

-- FullLayer: the cell step by step over the first dim
local function full_layer(inputs, hx, cx, params)
  local step_outputs = torch.list()
  local function unstacked(step_inputs)
    for i = 1, #step_inputs do
      hx, cx = lstm_cell(step_inputs[i], hx, cx, params)
      step_outputs:append(hx)
    end
  end
  unstacked(torch.unbind(inputs, 0))
  return torch.stack(step_outputs, 0), hx, cx
end

local function lstm(input, hx, layers, batch_first, dropout, training)
  local layer_input = batch_first and input:transpose(0, 1) or input
  local layer_hx, layer_cx = torch.unbind(hx[1], 0), torch.unbind(hx[2], 0)
  local hy, cy = torch.list(), torch.list()
  for l = 1, #layers do
    local final_h, final_c
    layer_input, final_h, final_c = full_layer(layer_input, layer_hx[l], layer_cx[l], layers[l])
    hy:append(final_h)
    cy:append(final_c)
    if dropout ~= 0 and training and l < #layers then
      layer_input = torch.dropout(layer_input, dropout)
    end
  end
  local hidden = { torch.stack(hy, 0), torch.stack(cy, 0) }
  if batch_first then
    layer_input = layer_input:transpose(0, 1)
  end
  return layer_input, hidden
end

-- options: batch_first, dropout
rnn.LSTM = nn.class()
function rnn.LSTM:init(input_size, hidden_size, num_layers, options)
  local o = options or {}
  self.hidden_size, self.num_layers = hidden_size, num_layers
  self.batch_first, self.dropout, self.training = o.batch_first == true, o.dropout or 0.0, true
  for l = 0, num_layers - 1 do
    local width = l == 0 and input_size or hidden_size
    self["weight_ih_l" .. l] = nn.Parameter(torch.empty({ 4 * hidden_size, width }))
    self["weight_hh_l" .. l] = nn.Parameter(torch.empty({ 4 * hidden_size, hidden_size }))
    self["bias_ih_l" .. l] = nn.Parameter(torch.empty({ 4 * hidden_size }))
    self["bias_hh_l" .. l] = nn.Parameter(torch.empty({ 4 * hidden_size }))
  end
end
function rnn.LSTM:flat_weights()
  local layers = {}
  for l = 0, self.num_layers - 1 do
    layers[l + 1] = setmetatable({
      w_ih = self["weight_ih_l" .. l],
      w_hh = self["weight_hh_l" .. l],
      b_ih = self["bias_ih_l" .. l],
      b_hh = self["bias_hh_l" .. l],
    }, {})
  end
  return layers
end
-- returns { output, { h, c } }
function rnn.LSTM:forward(input)
  local max_batch_size = input:size(self.batch_first and 0 or 1)
  local h_zeros = torch.zeros({ self.num_layers, max_batch_size, self.hidden_size }, input.dtype)
  local c_zeros = torch.zeros({ self.num_layers, max_batch_size, self.hidden_size }, input.dtype)
  local hx = { h_zeros, c_zeros }
  local output, hidden = lstm(input, hx, self:flat_weights(), self.batch_first, self.dropout, self.training)
  return { output, hidden }
end

return rnn
