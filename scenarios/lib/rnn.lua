-- rnn.lua: recurrent layers as torch/nn/modules/rnn.py and, without cuDNN, ATen/native/RNN.cpp compose them.
local nn = use "nn"
local rnn = {}

-- One step on a GPU: two products and one fused kernel. A state is a table of tensors.
local cells = {}

function cells.lstm(input, state, params)
  local igates = torch.matmul(input, params.w_ih:t())
  local hgates = torch.matmul(state[1], params.w_hh:t())
  local hy, cy, workspace = torch.thnn_fused_lstm_cell(igates, hgates, state[2], params.b_ih, params.b_hh)
  return { hy, cy }
end

function cells.gru(input, state, params)
  local igates = torch.matmul(input, params.w_ih:t())
  local hgates = torch.matmul(state[1], params.w_hh:t())
  local hy, workspace = torch.thnn_fused_gru_cell(igates, hgates, state[1], params.b_ih, params.b_hh)
  return { hy }
end

-- SimpleCell: no fused kernel
local function simple(nonlinearity)
  return function(input, state, params)
    local gates = torch.linear(state[1], params.w_hh, params.b_hh)
    local igates = torch.linear(input, params.w_ih, params.b_ih)
    gates:add_(igates)
    return { torch[nonlinearity](gates) }
  end
end
cells.tanh, cells.relu = simple "tanh", simple "relu"

-- FullLayer: the cell step by step over the first dim, from the end when turned around
local function full_layer(cell, step_inputs, state, params, reverse)
  local step_outputs = torch.list()
  local n = #step_inputs
  for i = 1, n do
    state = cell(step_inputs[reverse and n + 1 - i or i], state, params)
    step_outputs:append(state[1])
  end
  if not reverse then
    return torch.stack(step_outputs, 0), state
  end
  local turned = torch.list()
  for i = n, 1, -1 do
    turned:append(step_outputs[i])
  end
  return torch.stack(turned, 0), state
end

-- FullBidirectionalLayer: both outputs side by side
local function both_ways(cell, input, states, first, params)
  local step_inputs = torch.unbind(input, 0)
  local fw_output, fw_state = full_layer(cell, step_inputs, states[first], params[first], false)
  local rev_output, rev_state = full_layer(cell, step_inputs, states[first + 1], params[first + 1], true)
  return torch.cat({ fw_output, rev_output }, -1), { fw_state, rev_state }
end

local function one_way(cell, input, states, first, params)
  local output, state = full_layer(cell, torch.unbind(input, 0), states[first], params[first], false)
  return output, { state }
end

-- The states of all layers and directions as one tensor, and back.
local function unstacked(hx)
  local parts, states = {}, {}
  for k = 1, #hx do
    parts[k] = torch.unbind(hx[k], 0)
  end
  for i = 1, #parts[1] do
    states[i] = {}
    for k = 1, #hx do
      states[i][k] = parts[k][i]
    end
  end
  return states
end

local function stacked(finals, count)
  local hidden = {}
  for k = 1, count do
    local list = torch.list()
    for i = 1, #finals do
      list:append(finals[i][k])
    end
    hidden[k] = torch.stack(list, 0)
  end
  return hidden
end

local function run(self, input, hx, params)
  local layer_input = self.batch_first and input:transpose(0, 1) or input
  local states, finals = unstacked(hx), {}
  local layer = self.directions == 2 and both_ways or one_way
  for l = 0, self.num_layers - 1 do
    local ends
    layer_input, ends = layer(cells[self.cell], layer_input, states, l * self.directions + 1, params)
    for i = 1, #ends do
      finals[#finals + 1] = ends[i]
    end
    if self.dropout ~= 0 and self.training and l < self.num_layers - 1 then
      layer_input = torch.dropout(layer_input, self.dropout)
    end
  end
  local hidden = stacked(finals, #hx)
  if self.batch_first then
    layer_input = layer_input:transpose(0, 1)
  end
  return layer_input, hidden
end

local function add_weights(self, suffix, gates, width, hidden_size, bias)
  self["weight_ih" .. suffix] = nn.Parameter(torch.empty({ gates * hidden_size, width }))
  self["weight_hh" .. suffix] = nn.Parameter(torch.empty({ gates * hidden_size, hidden_size }))
  if bias then
    self["bias_ih" .. suffix] = nn.Parameter(torch.empty({ gates * hidden_size }))
    self["bias_hh" .. suffix] = nn.Parameter(torch.empty({ gates * hidden_size }))
  end
end

local function weights(self, suffix)
  return setmetatable({
    w_ih = self["weight_ih" .. suffix],
    w_hh = self["weight_hh" .. suffix],
    b_ih = self["bias_ih" .. suffix],
    b_hh = self["bias_hh" .. suffix],
  }, {})
end

local options_of = { batch_first = true, dropout = true, bidirectional = true, bias = true, nonlinearity = true }

-- cell: its name in cells; gates: weights of how many a state; parts: tensors of a state
local function class(cell, gates, parts)
  local Class = nn.class()
  -- options: batch_first, dropout, bidirectional, bias (and nonlinearity of RNN)
  function Class:init(input_size, hidden_size, num_layers, options)
    local o = options or {}
    for key in pairs(o) do
      if not options_of[key] then
        error("rnn: unknown option '" .. tostring(key) .. "'; known: batch_first, bias, bidirectional, dropout, nonlinearity")
      end
    end
    self.hidden_size, self.num_layers = hidden_size, num_layers or 1
    self.cell = o.nonlinearity or cell
    self.directions = o.bidirectional and 2 or 1
    self.batch_first, self.dropout, self.training = o.batch_first == true, o.dropout or 0.0, true
    for l = 0, self.num_layers - 1 do
      local width = l == 0 and input_size or hidden_size * self.directions
      add_weights(self, "_l" .. l, gates, width, hidden_size, o.bias ~= false)
      if self.directions == 2 then
        add_weights(self, "_l" .. l .. "_reverse", gates, width, hidden_size, o.bias ~= false)
      end
    end
  end
  -- returns { output, { h } }, of an LSTM { output, { h, c } }
  function Class:forward(input, hx)
    local max_batch_size = input:size(self.batch_first and 0 or 1)
    if not hx then
      hx = {}
      for k = 1, parts do
        hx[k] = torch.zeros({ self.num_layers * self.directions, max_batch_size, self.hidden_size }, input.dtype)
      end
    end
    local params = {}
    for l = 0, self.num_layers - 1 do
      params[#params + 1] = weights(self, "_l" .. l)
      if self.directions == 2 then
        params[#params + 1] = weights(self, "_l" .. l .. "_reverse")
      end
    end
    local output, hidden = run(self, input, hx, params)
    return { output, hidden }
  end
  return Class
end

rnn.LSTM, rnn.GRU, rnn.RNN = class("lstm", 4, 2), class("gru", 3, 1), class("tanh", 1, 1)

-- LSTMCell, GRUCell, RNNCell: one step; returns { h } or { h, c }
local function cell_class(cell, gates, parts)
  local Class = nn.class()
  function Class:init(input_size, hidden_size, bias)
    self.hidden_size = hidden_size
    add_weights(self, "", gates, input_size, hidden_size, bias ~= false)
  end
  function Class:forward(input, hx)
    if not hx then
      local zeros = torch.zeros({ input:size(0), self.hidden_size }, input.dtype)
      hx = parts == 2 and { zeros, zeros } or { zeros }
    end
    return cells[cell](input, hx, weights(self, ""))
  end
  return Class
end

rnn.LSTMCell, rnn.GRUCell, rnn.RNNCell = cell_class("lstm", 4, 2), cell_class("gru", 3, 1), cell_class("tanh", 1, 1)

return rnn
