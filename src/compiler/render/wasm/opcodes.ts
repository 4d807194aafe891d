/**
 * WebAssembly instructions by name: the MVP, sign extension, saturating conversions, bulk memory, threads and SIMD128.
 *
 * One number an instruction: the opcode itself, or `prefix << 12 | opcode` for the instructions behind a prefix byte
 * (0xfc miscellaneous, 0xfd SIMD, 0xfe threads). What immediates follow is the business of the function builder's
 * methods: everything that `FunctionBuilder.op` takes has none.
 */

// biome-ignore format: a table
/** Instructions of scalars without immediates. */
const SCALAR = {
  unreachable: 0x00, return: 0x0f, drop: 0x1a, select: 0x1b, 'i32.eqz': 0x45, 'i32.eq': 0x46, 'i32.ne': 0x47,
  'i32.lt_s': 0x48, 'i32.lt_u': 0x49, 'i32.gt_s': 0x4a, 'i32.gt_u': 0x4b, 'i32.le_s': 0x4c, 'i32.le_u': 0x4d,
  'i32.ge_s': 0x4e, 'i32.ge_u': 0x4f, 'i64.eqz': 0x50, 'i64.eq': 0x51, 'i64.ne': 0x52, 'i64.lt_s': 0x53,
  'i64.lt_u': 0x54, 'i64.gt_s': 0x55, 'i64.gt_u': 0x56, 'i64.le_s': 0x57, 'i64.le_u': 0x58, 'i64.ge_s': 0x59,
  'i64.ge_u': 0x5a, 'f32.eq': 0x5b, 'f32.ne': 0x5c, 'f32.lt': 0x5d, 'f32.gt': 0x5e, 'f32.le': 0x5f, 'f32.ge': 0x60,
  'f64.eq': 0x61, 'f64.ne': 0x62, 'f64.lt': 0x63, 'f64.gt': 0x64, 'f64.le': 0x65, 'f64.ge': 0x66, 'i32.clz': 0x67,
  'i32.ctz': 0x68, 'i32.popcnt': 0x69, 'i32.add': 0x6a, 'i32.sub': 0x6b, 'i32.mul': 0x6c, 'i32.div_s': 0x6d,
  'i32.div_u': 0x6e, 'i32.rem_s': 0x6f, 'i32.rem_u': 0x70, 'i32.and': 0x71, 'i32.or': 0x72, 'i32.xor': 0x73,
  'i32.shl': 0x74, 'i32.shr_s': 0x75, 'i32.shr_u': 0x76, 'i32.rotl': 0x77, 'i32.rotr': 0x78, 'i64.clz': 0x79,
  'i64.ctz': 0x7a, 'i64.popcnt': 0x7b, 'i64.add': 0x7c, 'i64.sub': 0x7d, 'i64.mul': 0x7e, 'i64.div_s': 0x7f,
  'i64.div_u': 0x80, 'i64.rem_s': 0x81, 'i64.rem_u': 0x82, 'i64.and': 0x83, 'i64.or': 0x84, 'i64.xor': 0x85,
  'i64.shl': 0x86, 'i64.shr_s': 0x87, 'i64.shr_u': 0x88, 'i64.rotl': 0x89, 'i64.rotr': 0x8a, 'f32.abs': 0x8b,
  'f32.neg': 0x8c, 'f32.ceil': 0x8d, 'f32.floor': 0x8e, 'f32.trunc': 0x8f, 'f32.nearest': 0x90, 'f32.sqrt': 0x91,
  'f32.add': 0x92, 'f32.sub': 0x93, 'f32.mul': 0x94, 'f32.div': 0x95, 'f32.min': 0x96, 'f32.max': 0x97,
  'f32.copysign': 0x98, 'f64.abs': 0x99, 'f64.neg': 0x9a, 'f64.ceil': 0x9b, 'f64.floor': 0x9c, 'f64.trunc': 0x9d,
  'f64.nearest': 0x9e, 'f64.sqrt': 0x9f, 'f64.add': 0xa0, 'f64.sub': 0xa1, 'f64.mul': 0xa2, 'f64.div': 0xa3,
  'f64.min': 0xa4, 'f64.max': 0xa5, 'f64.copysign': 0xa6, 'i32.wrap_i64': 0xa7, 'i64.extend_i32_s': 0xac,
  'i64.extend_i32_u': 0xad, 'f32.convert_i32_s': 0xb2, 'f32.convert_i32_u': 0xb3, 'f32.convert_i64_s': 0xb4,
  'f32.convert_i64_u': 0xb5, 'f32.demote_f64': 0xb6, 'f64.convert_i32_s': 0xb7, 'f64.convert_i32_u': 0xb8,
  'f64.convert_i64_s': 0xb9, 'f64.convert_i64_u': 0xba, 'f64.promote_f32': 0xbb, 'i32.reinterpret_f32': 0xbc,
  'i64.reinterpret_f64': 0xbd, 'f32.reinterpret_i32': 0xbe, 'f64.reinterpret_i64': 0xbf, 'i32.extend8_s': 0xc0,
  'i32.extend16_s': 0xc1, 'i64.extend8_s': 0xc2, 'i64.extend16_s': 0xc3, 'i64.extend32_s': 0xc4,
  'i32.trunc_sat_f32_s': 0xfc000, 'i32.trunc_sat_f32_u': 0xfc001, 'i32.trunc_sat_f64_s': 0xfc002,
  'i32.trunc_sat_f64_u': 0xfc003, 'i64.trunc_sat_f32_s': 0xfc004, 'i64.trunc_sat_f32_u': 0xfc005,
  'i64.trunc_sat_f64_s': 0xfc006, 'i64.trunc_sat_f64_u': 0xfc007,
};

// biome-ignore format: a table
/** Those of vectors. */
const SIMD = {
  'i8x16.swizzle': 0xfd00e, 'i8x16.splat': 0xfd00f, 'i16x8.splat': 0xfd010, 'i32x4.splat': 0xfd011,
  'i64x2.splat': 0xfd012, 'f32x4.splat': 0xfd013, 'f64x2.splat': 0xfd014, 'i8x16.eq': 0xfd023, 'i8x16.ne': 0xfd024,
  'i8x16.lt_s': 0xfd025, 'i8x16.lt_u': 0xfd026, 'i8x16.gt_s': 0xfd027, 'i8x16.gt_u': 0xfd028, 'i8x16.le_s': 0xfd029,
  'i8x16.le_u': 0xfd02a, 'i8x16.ge_s': 0xfd02b, 'i8x16.ge_u': 0xfd02c, 'i16x8.eq': 0xfd02d, 'i16x8.ne': 0xfd02e,
  'i16x8.lt_s': 0xfd02f, 'i16x8.lt_u': 0xfd030, 'i16x8.gt_s': 0xfd031, 'i16x8.gt_u': 0xfd032, 'i16x8.le_s': 0xfd033,
  'i16x8.le_u': 0xfd034, 'i16x8.ge_s': 0xfd035, 'i16x8.ge_u': 0xfd036, 'i32x4.eq': 0xfd037, 'i32x4.ne': 0xfd038,
  'i32x4.lt_s': 0xfd039, 'i32x4.lt_u': 0xfd03a, 'i32x4.gt_s': 0xfd03b, 'i32x4.gt_u': 0xfd03c, 'i32x4.le_s': 0xfd03d,
  'i32x4.le_u': 0xfd03e, 'i32x4.ge_s': 0xfd03f, 'i32x4.ge_u': 0xfd040, 'f32x4.eq': 0xfd041, 'f32x4.ne': 0xfd042,
  'f32x4.lt': 0xfd043, 'f32x4.gt': 0xfd044, 'f32x4.le': 0xfd045, 'f32x4.ge': 0xfd046, 'f64x2.eq': 0xfd047,
  'f64x2.ne': 0xfd048, 'f64x2.lt': 0xfd049, 'f64x2.gt': 0xfd04a, 'f64x2.le': 0xfd04b, 'f64x2.ge': 0xfd04c,
  'v128.not': 0xfd04d, 'v128.and': 0xfd04e, 'v128.andnot': 0xfd04f, 'v128.or': 0xfd050, 'v128.xor': 0xfd051,
  'v128.bitselect': 0xfd052, 'v128.any_true': 0xfd053, 'f32x4.demote_f64x2_zero': 0xfd05e,
  'f64x2.promote_low_f32x4': 0xfd05f, 'i8x16.popcnt': 0xfd062, 'i8x16.bitmask': 0xfd064,
  'i8x16.narrow_i16x8_s': 0xfd065, 'i8x16.narrow_i16x8_u': 0xfd066, 'f32x4.ceil': 0xfd067, 'f32x4.floor': 0xfd068,
  'f32x4.trunc': 0xfd069, 'f32x4.nearest': 0xfd06a, 'f64x2.ceil': 0xfd074, 'f64x2.floor': 0xfd075,
  'f64x2.trunc': 0xfd07a, 'f64x2.nearest': 0xfd094, 'i16x8.extadd_pairwise_i8x16_s': 0xfd07c,
  'i16x8.extadd_pairwise_i8x16_u': 0xfd07d, 'i32x4.extadd_pairwise_i16x8_s': 0xfd07e,
  'i32x4.extadd_pairwise_i16x8_u': 0xfd07f, 'i16x8.bitmask': 0xfd084, 'i16x8.narrow_i32x4_s': 0xfd085,
  'i16x8.narrow_i32x4_u': 0xfd086, 'i16x8.extend_low_i8x16_s': 0xfd087, 'i16x8.extend_low_i8x16_u': 0xfd089,
  'i32x4.abs': 0xfd0a0, 'i32x4.neg': 0xfd0a1, 'i32x4.all_true': 0xfd0a3, 'i32x4.bitmask': 0xfd0a4,
  'i32x4.extend_low_i16x8_s': 0xfd0a7, 'i32x4.extend_high_i16x8_s': 0xfd0a8, 'i32x4.extend_low_i16x8_u': 0xfd0a9,
  'i32x4.extend_high_i16x8_u': 0xfd0aa, 'i32x4.shl': 0xfd0ab, 'i32x4.shr_s': 0xfd0ac, 'i32x4.shr_u': 0xfd0ad,
  'i32x4.add': 0xfd0ae, 'i32x4.sub': 0xfd0b1, 'i32x4.mul': 0xfd0b5, 'i32x4.min_s': 0xfd0b6, 'i32x4.min_u': 0xfd0b7,
  'i32x4.max_s': 0xfd0b8, 'i32x4.max_u': 0xfd0b9, 'i32x4.dot_i16x8_s': 0xfd0ba, 'i64x2.abs': 0xfd0c0,
  'i64x2.neg': 0xfd0c1, 'i64x2.all_true': 0xfd0c3, 'i64x2.bitmask': 0xfd0c4, 'i64x2.extend_low_i32x4_s': 0xfd0c7,
  'i64x2.extend_high_i32x4_s': 0xfd0c8, 'i64x2.extend_low_i32x4_u': 0xfd0c9, 'i64x2.extend_high_i32x4_u': 0xfd0ca,
  'i64x2.shl': 0xfd0cb, 'i64x2.shr_s': 0xfd0cc, 'i64x2.shr_u': 0xfd0cd, 'i64x2.add': 0xfd0ce, 'i64x2.sub': 0xfd0d1,
  'i64x2.mul': 0xfd0d5, 'i64x2.eq': 0xfd0d6, 'i64x2.ne': 0xfd0d7, 'i64x2.lt_s': 0xfd0d8, 'i64x2.gt_s': 0xfd0d9,
  'i64x2.le_s': 0xfd0da, 'i64x2.ge_s': 0xfd0db, 'f32x4.abs': 0xfd0e0, 'f32x4.neg': 0xfd0e1, 'f32x4.sqrt': 0xfd0e3,
  'f32x4.add': 0xfd0e4, 'f32x4.sub': 0xfd0e5, 'f32x4.mul': 0xfd0e6, 'f32x4.div': 0xfd0e7, 'f32x4.min': 0xfd0e8,
  'f32x4.max': 0xfd0e9, 'f32x4.pmin': 0xfd0ea, 'f32x4.pmax': 0xfd0eb, 'f64x2.abs': 0xfd0ec, 'f64x2.neg': 0xfd0ed,
  'f64x2.sqrt': 0xfd0ef, 'f64x2.add': 0xfd0f0, 'f64x2.sub': 0xfd0f1, 'f64x2.mul': 0xfd0f2, 'f64x2.div': 0xfd0f3,
  'f64x2.min': 0xfd0f4, 'f64x2.max': 0xfd0f5, 'f64x2.pmin': 0xfd0f6, 'f64x2.pmax': 0xfd0f7,
  'i32x4.trunc_sat_f32x4_s': 0xfd0f8, 'i32x4.trunc_sat_f32x4_u': 0xfd0f9, 'f32x4.convert_i32x4_s': 0xfd0fa,
  'f32x4.convert_i32x4_u': 0xfd0fb, 'i32x4.trunc_sat_f64x2_s_zero': 0xfd0fc, 'i32x4.trunc_sat_f64x2_u_zero': 0xfd0fd,
  'f64x2.convert_low_i32x4_s': 0xfd0fe, 'f64x2.convert_low_i32x4_u': 0xfd0ff, 'i8x16.abs': 0xfd060,
  'i8x16.neg': 0xfd061, 'i8x16.add': 0xfd06e, 'i8x16.sub': 0xfd071, 'i8x16.min_s': 0xfd076, 'i8x16.min_u': 0xfd077,
  'i8x16.max_s': 0xfd078, 'i8x16.max_u': 0xfd079, 'i16x8.abs': 0xfd080, 'i16x8.neg': 0xfd081,
  'i16x8.extend_high_i8x16_s': 0xfd088, 'i16x8.extend_high_i8x16_u': 0xfd08a, 'i16x8.shl': 0xfd08b,
  'i16x8.shr_s': 0xfd08c, 'i16x8.shr_u': 0xfd08d, 'i16x8.add': 0xfd08e, 'i16x8.sub': 0xfd091, 'i16x8.mul': 0xfd095,
  'i16x8.min_s': 0xfd096, 'i16x8.min_u': 0xfd097, 'i16x8.max_s': 0xfd098, 'i16x8.max_u': 0xfd099,
  'i32x4.extmul_low_i16x8_s': 0xfd0bc, 'i32x4.extmul_high_i16x8_s': 0xfd0bd, 'i32x4.extmul_low_i16x8_u': 0xfd0be,
  'i32x4.extmul_high_i16x8_u': 0xfd0bf, 'i64x2.extmul_low_i32x4_u': 0xfd0de, 'i64x2.extmul_high_i32x4_u': 0xfd0df,
};

// biome-ignore format: a table
/** Loads and stores of scalars: instructions with a memory immediate (alignment and offset). */
const SCALAR_MEMORY = {
  'i32.load': 0x28, 'i64.load': 0x29, 'f32.load': 0x2a, 'f64.load': 0x2b, 'i32.load8_s': 0x2c, 'i32.load8_u': 0x2d,
  'i32.load16_s': 0x2e, 'i32.load16_u': 0x2f, 'i64.load8_s': 0x30, 'i64.load8_u': 0x31, 'i64.load16_s': 0x32,
  'i64.load16_u': 0x33, 'i64.load32_s': 0x34, 'i64.load32_u': 0x35, 'i32.store': 0x36, 'i64.store': 0x37,
  'f32.store': 0x38, 'f64.store': 0x39, 'i32.store8': 0x3a, 'i32.store16': 0x3b,
};

// biome-ignore format: a table
/** Those of vectors, and atomic ones. */
const WIDE_MEMORY = {
  'v128.load': 0xfd000, 'v128.load8x8_s': 0xfd001, 'v128.load8x8_u': 0xfd002, 'v128.load16x4_s': 0xfd003,
  'v128.load16x4_u': 0xfd004, 'v128.load32x2_s': 0xfd005, 'v128.load32x2_u': 0xfd006, 'v128.load8_splat': 0xfd007,
  'v128.load16_splat': 0xfd008, 'v128.load32_splat': 0xfd009, 'v128.load64_splat': 0xfd00a, 'v128.store': 0xfd00b,
  'v128.load32_zero': 0xfd05c, 'v128.load64_zero': 0xfd05d, 'i32.atomic.load': 0xfe010, 'i64.atomic.load': 0xfe011,
  'i32.atomic.store': 0xfe017, 'i32.atomic.load8_u': 0xfe012, 'i32.atomic.load16_u': 0xfe013,
  'i32.atomic.store8': 0xfe019, 'i32.atomic.store16': 0xfe01a, 'i32.atomic.rmw8.xchg_u': 0xfe043,
  'i32.atomic.rmw16.xchg_u': 0xfe044, 'i32.atomic.rmw8.cmpxchg_u': 0xfe04a, 'i32.atomic.rmw16.cmpxchg_u': 0xfe04b,
  'i64.atomic.store': 0xfe018, 'i32.atomic.rmw.add': 0xfe01e, 'i64.atomic.rmw.add': 0xfe01f,
  'i32.atomic.rmw.sub': 0xfe025, 'i64.atomic.rmw.sub': 0xfe026, 'i32.atomic.rmw.and': 0xfe02c,
  'i64.atomic.rmw.and': 0xfe02d, 'i32.atomic.rmw.or': 0xfe033, 'i64.atomic.rmw.or': 0xfe034,
  'i32.atomic.rmw.xor': 0xfe03a, 'i64.atomic.rmw.xor': 0xfe03b, 'i32.atomic.rmw.xchg': 0xfe041,
  'i64.atomic.rmw.xchg': 0xfe042, 'i32.atomic.rmw.cmpxchg': 0xfe048, 'i64.atomic.rmw.cmpxchg': 0xfe049,
};

// biome-ignore format: a table
/** Instructions with a memory and a lane immediate. */
const MEMORY_LANE = {
  'v128.load8_lane': 0xfd054, 'v128.load16_lane': 0xfd055, 'v128.load32_lane': 0xfd056, 'v128.load64_lane': 0xfd057,
  'v128.store8_lane': 0xfd058, 'v128.store16_lane': 0xfd059, 'v128.store32_lane': 0xfd05a,
  'v128.store64_lane': 0xfd05b,
};

// biome-ignore format: a table
/** Instructions with a lane immediate. */
const LANE = {
  'i8x16.extract_lane_u': 0xfd016, 'i8x16.replace_lane': 0xfd017, 'i16x8.replace_lane': 0xfd01a, 'i16x8.extract_lane_u': 0xfd019, 'i32x4.extract_lane': 0xfd01b,
  'i32x4.replace_lane': 0xfd01c, 'i64x2.extract_lane': 0xfd01d, 'i64x2.replace_lane': 0xfd01e,
  'f32x4.extract_lane': 0xfd01f, 'f32x4.replace_lane': 0xfd020, 'f64x2.extract_lane': 0xfd021,
  'f64x2.replace_lane': 0xfd022,
};

export type PlainOp = keyof typeof SCALAR | keyof typeof SIMD;
export type MemoryOp = keyof typeof SCALAR_MEMORY | keyof typeof WIDE_MEMORY;
export type MemoryLaneOp = keyof typeof MEMORY_LANE;
export type LaneOp = keyof typeof LANE;

type Table = Readonly<Record<string, number>>;

/** The number of an instruction without immediates. Tables of what simple kernels lack are read by functions of their own, so that pages load them later. */
export function plainOpcode(name: PlainOp): number {
  return (SCALAR as Table)[name] ?? simdOpcode(name);
}

function simdOpcode(name: PlainOp): number {
  return (SIMD as Table)[name] as number;
}

/** The number of an instruction with a memory immediate. */
export function memoryOpcode(name: MemoryOp): number {
  return (SCALAR_MEMORY as Table)[name] ?? wideMemoryOpcode(name);
}

function wideMemoryOpcode(name: MemoryOp): number {
  return (WIDE_MEMORY as Table)[name] as number;
}

export const isScalarOp = (word: string): word is keyof typeof SCALAR => Object.hasOwn(SCALAR, word);

export const MEMORY_LANE_OPS: Readonly<Record<MemoryLaneOp, number>> = MEMORY_LANE;
export const LANE_OPS: Readonly<Record<LaneOp, number>> = LANE;

/** All instructions by what follows them, for what reads code. */
export function allOps(): Readonly<Record<'none' | 'memory' | 'memoryLane' | 'lane', Table>> {
  return {
    none: { ...SCALAR, ...SIMD },
    memory: { ...SCALAR_MEMORY, ...WIDE_MEMORY },
    memoryLane: MEMORY_LANE,
    lane: LANE,
  };
}

/** Opcodes that the function builder writes itself, with immediates of their own. */
export const OP = {
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  call: 0x10,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  i32Const: 0x41,
  i64Const: 0x42,
  f32Const: 0x43,
  f64Const: 0x44,
  memoryCopy: 0xfc00a,
  memoryFill: 0xfc00b,
  atomicFence: 0xfe003,
  v128Const: 0xfd00c,
  shuffle: 0xfd00d,
} as const;
