-- an adapter around what is no linear layer
local nn, lora = use "nn", use "lora"
local Model = nn.class()
function Model:init()
  self.norm = nn.LayerNorm(8)
  self.up = nn.Linear(8, 8)
end
lora.get_peft_model(Model(), { "up", "norm" }, { r = 2, lora_alpha = 4, lora_dropout = 0.0 })
