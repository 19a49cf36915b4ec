/** What the server asks of the thread that converts large documents, and what it is answered. */

/** Read YAML into JSON, or write JSON as YAML or indented. */
export type Work = 'read YAML' | 'write YAML' | 'indent'

export interface WorkRequest {
  readonly id: number
  readonly work: Work
  readonly bytes: Uint8Array
  /** How large a body may be. */
  readonly limit: number
}

export type WorkReply =
  | { readonly id: number; readonly bytes: Uint8Array; readonly duplicates: readonly string[] }
  /** The document was refused, with the code and the sentence for the client. */
  | {
      readonly id: number
      readonly refused: { readonly code: number; readonly reason: string; readonly message: string }
    }
  /** A bug of this server. */
  | { readonly id: number; readonly fault: string }
