/**
 * WebGPU as far as the driver uses it.
 *
 * W3C: WebGPU, https://www.w3.org/TR/webgpu/. Only what is called is declared.
 */

export interface GpuBuffer {
  readonly size: number;
  mapAsync(mode: number, offset?: number, size?: number): PromiseLike<void>;
  getMappedRange(offset?: number, size?: number): ArrayBufferLike;
  unmap(): void;
  destroy(): void;
}

/** What an adapter says of itself. */
export interface GpuInfo {
  readonly vendor?: string;
  readonly device?: string;
  readonly architecture?: string;
  readonly description?: string;
  readonly isFallbackAdapter?: boolean;
  readonly subgroupMinSize?: number;
  readonly subgroupMaxSize?: number;
}

export interface GpuLimits {
  readonly maxBufferSize: number;
  readonly maxStorageBufferBindingSize: number;
  readonly maxStorageBuffersPerShaderStage: number;
  readonly maxComputeWorkgroupStorageSize: number;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupSizeX: number;
  readonly maxComputeWorkgroupSizeY: number;
  readonly maxComputeWorkgroupSizeZ: number;
  readonly maxComputeWorkgroupsPerDimension: number;
  readonly maxTextureDimension2D: number;
}

export interface GpuError {
  readonly message: string;
}

export interface GpuQuerySet {
  destroy(): void;
}

export interface GpuComputePass {
  setPipeline(pipeline: GpuPipeline): void;
  setBindGroup(index: number, group: object, offsets?: readonly number[]): void;
  dispatchWorkgroups(x: number, y: number, z: number): void;
  end(): void;
}

export interface GpuEncoder {
  beginComputePass(options?: object): GpuComputePass;
  copyBufferToBuffer(source: GpuBuffer, from: number, target: GpuBuffer, to: number, bytes: number): void;
  clearBuffer(buffer: GpuBuffer, offset?: number, bytes?: number): void;
  resolveQuerySet(set: GpuQuerySet, first: number, count: number, target: GpuBuffer, at: number): void;
  finish(): object;
}

export interface GpuPipeline {
  getBindGroupLayout(index: number): object;
}

export interface GpuQueue {
  submit(commands: readonly object[]): void;
  writeBuffer(buffer: GpuBuffer, at: number, data: Uint8Array, offset?: number, bytes?: number): void;
  onSubmittedWorkDone(): PromiseLike<void>;
}

export interface GpuDevice {
  readonly queue: GpuQueue;
  readonly limits: GpuLimits;
  readonly features: { has(name: string): boolean };
  readonly lost: PromiseLike<{ readonly reason: string; readonly message: string }>;
  createBuffer(options: { readonly size: number; readonly usage: number; readonly label?: string }): GpuBuffer;
  createShaderModule(options: { readonly code: string; readonly label?: string }): object;
  createBindGroupLayout(options: object): object;
  createPipelineLayout(options: object): object;
  createComputePipeline(options: object): GpuPipeline;
  /** Absent where the device is in another thread. */
  createComputePipelineAsync?(options: object): PromiseLike<GpuPipeline>;
  createBindGroup(options: object): object;
  createCommandEncoder(): GpuEncoder;
  createQuerySet(options: { readonly type: 'timestamp'; readonly count: number }): GpuQuerySet;
  pushErrorScope(filter: 'validation' | 'out-of-memory' | 'internal'): void;
  popErrorScope(): PromiseLike<GpuError | null>;
  destroy(): void;
}

export interface GpuAdapter {
  readonly limits: GpuLimits;
  readonly features: { has(name: string): boolean };
  readonly info?: GpuInfo;
  requestDevice(options: object): Promise<GpuDevice>;
}

export interface Gpu {
  requestAdapter(options?: object): Promise<GpuAdapter | null>;
}

/** GPUBufferUsage and GPUMapMode; numbers of the specification. */
export const USAGE = {
  mapRead: 1,
  copySource: 4,
  copyTarget: 8,
  uniform: 64,
  storage: 128,
  queryResolve: 512,
} as const;
export const MAP_READ = 1;
export const SHADER_STAGE_COMPUTE = 4;
