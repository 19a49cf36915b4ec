/**
 * A content type other than JSON, such as Protobuf. The client prefers it and accepts JSON too, decodes responses by
 * their content type, and sends JSON if a document has no such encoding.
 */
export interface ContentForm {
  readonly mediaType: string
  /** Returns undefined if this document has no such encoding. */
  write(document: object): Uint8Array | undefined
  read(bytes: Uint8Array): unknown
  /** Decodes the events of a watch. */
  readEvents(chunks: AsyncIterable<Uint8Array>): AsyncIterable<{ readonly type: string; readonly object: unknown }>
}
