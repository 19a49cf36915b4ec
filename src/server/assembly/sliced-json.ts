/** The JSON content type for clients that share a thread with requests. */
import { parseOwnTextSliced } from '../../api/codec/json.ts'
import type { Json } from '../../api/json/json.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { ContentForm } from '../../client/requests/content-form.ts'
import { lines, maxLineBytes, type RawEvent } from '../../client/requests/watch.ts'

/** Reads JSON in slices, so that a long response or watch event does not block the thread. */
export const slicedJson: ContentForm = {
  mediaType: 'application/json',
  write: () => undefined,
  read: (bytes) => parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')),
  readEvents: async function* (chunks) {
    for await (const line of lines(chunks, maxLineBytes)) yield (await parse(line)) as unknown as RawEvent<unknown>
  },
}

async function parse(text: string): Promise<Json> {
  return await new TimeSlice().run(parseOwnTextSliced(text))
}
