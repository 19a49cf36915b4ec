/** The messages between the server and the thread that converts large documents. */

/** The kind of conversion: reads YAML as JSON, or writes JSON as YAML or indented JSON. */
export type Work = 'read YAML' | 'write YAML' | 'indent'

export interface WorkRequest {
  readonly id: number
  readonly work: Work
  readonly bytes: Uint8Array
  /** Maximum size of a body in bytes. */
  readonly limit: number
}

export type WorkReply =
  | { readonly id: number; readonly bytes: Uint8Array; readonly duplicates: readonly string[] }
  /** The document was rejected, with the status code and message for the client. */
  | {
      readonly id: number
      readonly refused: { readonly code: number; readonly reason: string; readonly message: string }
    }
  /** The conversion failed because of a bug in this server. */
  | { readonly id: number; readonly fault: string }
