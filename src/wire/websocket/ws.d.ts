/**
 * Type declarations for the parts of the package `ws` that this program uses. Complete type declarations would require
 * another dependency.
 */
declare module 'ws' {
  import type { Writable } from 'node:stream'

  export interface ReceiverOptions {
    readonly isServer: boolean
    readonly maxPayload: number
    readonly maxFragments: number
    readonly maxBufferedChunks: number
  }

  /** A writable stream that parses WebSocket frames. It emits `message`, `ping`, `pong` and `conclude`. */
  export class Receiver extends Writable {
    constructor(options: ReceiverOptions)
  }

  export interface FrameOptions {
    readonly fin: boolean
    readonly opcode: number
    readonly mask: boolean
    /** Whether the caller still needs the data unchanged. If so, the data is copied before masking. */
    readonly readOnly: boolean
    readonly rsv1: boolean
  }

  export const Sender: { frame(data: Buffer, options: FrameOptions): Buffer[] }
}
