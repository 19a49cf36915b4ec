/**
 * A content type other than JSON, such as Protobuf. The client prefers it but also accepts JSON, decodes responses by
 * their content type, and sends JSON if it cannot encode a document this way.
 */
export interface ContentForm {
  readonly mediaType: string
  /** Encodes a document. Returns undefined if the document cannot be encoded this way. */
  write(document: object): Uint8Array | undefined
  read(bytes: Uint8Array): unknown
  /** Decodes the events of a watch. */
  readEvents(chunks: AsyncIterable<Uint8Array>): AsyncIterable<{ readonly type: string; readonly object: unknown }>
}
