/**
 * The worker thread that converts documents that are too large for the event loop. Documents are converted one at a
 * time.
 */
import { isMainThread, parentPort } from 'node:worker_threads'
import { ApiError } from '../model/api-error.ts'
import type { WorkReply, WorkRequest } from './document-worker-messages.ts'
import { indentText } from './indent-json.ts'
import { parseOwnJson, stringifyJson } from './json.ts'
import { stringifyYaml } from './write-yaml.ts'
import { parseYaml } from './yaml.ts'

function convert({ work, bytes, limit }: WorkRequest): { text: string; duplicates: readonly string[] } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (work === 'write YAML') return { text: stringifyYaml(parseOwnJson(buffer)), duplicates: [] }
  if (work === 'indent') return { text: indentText(buffer.toString('utf8')), duplicates: [] }
  const { value, duplicates } = parseYaml(buffer, limit)
  return { text: stringifyJson(value), duplicates }
}

function answer(request: WorkRequest): WorkReply {
  const { id } = request
  try {
    const { text, duplicates } = convert(request)
    return { id, bytes: new TextEncoder().encode(text), duplicates }
  } catch (error) {
    if (!(error instanceof ApiError)) return { id, fault: String(error) }
    const { code, reason, message } = error
    return { id, refused: { code, reason, message } }
  }
}

if (!isMainThread)
  parentPort!.on('message', (request: WorkRequest) => {
    const reply = answer(request)
    parentPort!.postMessage(reply, 'bytes' in reply ? [reply.bytes.buffer as ArrayBuffer] : [])
  })
