/** The messages between the server and the worker thread that converts large documents. */

/** A conversion: YAML to JSON, JSON to YAML, or JSON to indented JSON. */
export type Work = 'read YAML' | 'write YAML' | 'indent'

export interface WorkRequest {
  readonly id: number
  readonly work: Work
  readonly bytes: Uint8Array
  /** Maximum size of the document in bytes. */
  readonly limit: number
}

export type WorkReply =
  | { readonly id: number; readonly bytes: Uint8Array; readonly duplicates: readonly string[] }
  /** A rejected document, with the status code and the message for the client. */
  | {
      readonly id: number
      readonly refused: { readonly code: number; readonly reason: string; readonly message: string }
    }
  /** An error caused by a bug in this program. */
  | { readonly id: number; readonly fault: string }
