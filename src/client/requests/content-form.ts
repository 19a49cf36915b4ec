/**
 * A content type other than JSON, such as Protobuf. The client prefers this content type but also accepts JSON, decodes
 * responses by their content type, and sends JSON if a document has no encoding in this content type.
 */
export interface ContentForm {
  readonly mediaType: string
  /** Encodes a document. Returns undefined if the document has no encoding in this content type. */
  write(document: object): Uint8Array | undefined
  /** Decodes a document. May return a promise. */
  read(bytes: Uint8Array): unknown
  /** Decodes the events of a watch. */
  readEvents(chunks: AsyncIterable<Uint8Array>): AsyncIterable<{ readonly type: string; readonly object: unknown }>
}
