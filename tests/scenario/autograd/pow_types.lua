-- log: none
-- Types of powers are those of any arithmetic: a number or a tensor without dims gives way to its kind alone.
local i32, i64 = torch.zeros({ 4 }, torch.int32), torch.zeros({ 4 }, torch.int64)
local bf16, scalar = torch.zeros({ 4 }, torch.bfloat16), torch.zeros({}, torch.float32)
note("int64 ^ 0.5: " .. (i64 ^ 0.5).dtype)
note("int64 ^ 2: " .. (i64 ^ 2).dtype)
note("0.5 ^ int64: " .. torch.pow(0.5, i64).dtype)
note("bf16 ^ 0-dim fp32: " .. (bf16 ^ scalar).dtype)
note("int32 ^ int64: " .. (i32 ^ i64).dtype)
