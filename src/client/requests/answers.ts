/** Reads and decodes response bodies, up to a maximum size. The content type of the response selects the decoder. */

import { parseJson, stringifyJson } from '../../api/json/portable-json.ts'
import { messageOf } from '../../base/text/errors.ts'
import { joined } from './chunks.ts'
import type { ContentForm } from './content-form.ts'
import { errorOf, type StatusError } from './status-error.ts'
import { TransportError, type TransportResponse } from './transport.ts'

const maxAnswerBytes = 256 * 1024 * 1024

/** Whether a response is encoded in the given content type. */
export function isIn(form: ContentForm | undefined, { headers }: TransportResponse): form is ContentForm {
  return form !== undefined && (headers['content-type'] ?? '').startsWith(form.mediaType)
}

/** Returns the document in a response. */
export async function readDocument(form: ContentForm | undefined, response: TransportResponse): Promise<unknown> {
  if (!isIn(form, response)) return readJson(await readText(response))
  return await readForm(form, await readBytes(response))
}

/** Returns the error in a response. */
export async function readError(
  form: ContentForm | undefined,
  response: TransportResponse,
  request: string,
): Promise<StatusError> {
  if (!isIn(form, response)) return errorOf(response.status, await readText(response), request)
  return errorOf(response.status, stringifyJson(await readForm(form, await readBytes(response))), request)
}

function readJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    throw new TransportError(`the response is not valid JSON: ${messageOf(error)}`, { cause: error })
  }
}

/** Decodes a response body. A body that cannot be decoded is treated like a broken connection. */
async function readForm(form: ContentForm, bytes: Uint8Array): Promise<unknown> {
  try {
    return await form.read(bytes)
  } catch (error) {
    const reason = messageOf(error)
    throw new TransportError(`cannot decode the ${form.mediaType} response: ${reason}`, { cause: error })
  }
}

async function readText({ body }: TransportResponse): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  for await (const chunk of bounded(body)) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

async function readBytes({ body }: TransportResponse): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bounded(body)) chunks.push(chunk)
  return joined(chunks)
}

async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > maxAnswerBytes) throw new TransportError(`the response is longer than ${maxAnswerBytes} bytes`)
    yield chunk
  }
}
