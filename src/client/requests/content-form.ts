/**
 * Another form of documents than JSON, such as Protobuf, for a client whose caller chooses one. The client asks for it
 * first and for JSON after it, reads what comes by its type, and sends JSON where a document has no such form.
 */
export interface ContentForm {
  readonly mediaType: string
  /** Undefined where this document has no such form. */
  write(document: object): Uint8Array | undefined
  read(bytes: Uint8Array): unknown
  /** The events of a watch. */
  readEvents(chunks: AsyncIterable<Uint8Array>): AsyncIterable<{ readonly type: string; readonly object: unknown }>
}
