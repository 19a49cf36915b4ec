/** The part of the package `ws` that is used. Its types are a package of their own, which would be one more dependency. */
declare module 'ws' {
  import type { Writable } from 'node:stream'

  export interface ReceiverOptions {
    readonly isServer: boolean
    readonly maxPayload: number
    readonly maxFragments: number
    readonly maxBufferedChunks: number
  }

  /** Parses frames that are written to it, and emits `message`, `ping`, `pong` and `conclude`. */
  export class Receiver extends Writable {
    constructor(options: ReceiverOptions)
  }

  export interface FrameOptions {
    readonly fin: boolean
    readonly opcode: number
    readonly mask: boolean
    /** Whether the data must not be changed: a masked frame is then a copy. */
    readonly readOnly: boolean
    readonly rsv1: boolean
  }

  export const Sender: { frame(data: Buffer, options: FrameOptions): Buffer[] }
}
