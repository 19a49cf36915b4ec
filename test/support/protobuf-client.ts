/** A client whose Protobuf requests are encoded and decoded by an independent implementation (`protobuf-model.ts`). */
import assert from 'node:assert/strict'
import { get as httpGet } from 'node:https'
import { type ProfileName, vendorOf } from '../../src/api/model/vendor.ts'
import type { Answer, HttpClient } from './http-client.ts'
import { readDocument, readEnvelope, readFrames, writeDocument } from './protobuf-model.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any document
export type Loose = any

export interface ProtobufAnswer extends Omit<Answer, 'body'> {
  /** The document, decoded as the expected message type or as a Status. */
  readonly body: Loose
}

export class ProtobufClient {
  readonly mediaType: string
  readonly #client: HttpClient
  /** Prefix of the vendor's schema extensions. The recorded facts use `x-orch-`. */
  readonly #prefix: string

  constructor(client: HttpClient, profile: ProfileName = 'orch') {
    this.#client = client
    this.mediaType = vendorOf(profile).protobufMediaType
    this.#prefix = vendorOf(profile).extensionPrefix
  }

  /**
   * Reads an object. `message` is the expected type, such as `core.v1.ConfigMap`. `as` contains additional parameters
   * of the media type.
   */
  async get(path: string, message: string, as = ''): Promise<ProtobufAnswer> {
    return this.#read(await this.#client.get(path, { accept: `${this.mediaType}${as}` }), message)
  }

  async send(method: string, path: string, sent: SentDocument): Promise<ProtobufAnswer> {
    const { document, message, answered = message } = sent
    const headers = { 'content-type': this.mediaType, accept: this.mediaType }
    const raw = writeDocument(renamed(document, this.#prefix, 'x-orch-'), message)
    return this.#read(await this.#client.send(path, { method, headers, raw }), answered)
  }

  #read(answer: Answer, message: string): ProtobufAnswer {
    assert.equal(answer.headers['content-type'], this.mediaType, answer.text.slice(0, 500))
    const isStatus = readEnvelope(answer.bytes).type.kind === 'Status'
    const { status, headers, text, bytes } = answer
    const body = readDocument(bytes, isStatus ? 'meta.v1.Status' : message)
    return { status, headers, text, bytes, body: renamed(body, 'x-orch-', this.#prefix) }
  }
}

/** Returns the document with another prefix for the vendor's schema extensions. */
function renamed(document: Loose, from: string, to: string): Loose {
  if (from === to || typeof document !== 'object' || document === null) return document
  if (Array.isArray(document)) return document.map((item) => renamed(item, from, to))
  const members = Object.entries(document)
  return Object.fromEntries(
    members.map(([key, value]) => [key.startsWith(from) ? to + key.slice(from.length) : key, renamed(value, from, to)]),
  )
}

export interface SentDocument {
  readonly document: Loose
  readonly message: string
  /** Type of the response, if it differs from the type of the request. */
  readonly answered?: string
}

/** Yields the events of a Protobuf watch until the server ends it or `done` returns true. */
export async function watchFrames(
  { port, ca }: { port: number; ca: string },
  path: string,
  { accept, message, done }: { accept: string; message: string; done: (events: readonly Loose[]) => boolean },
): Promise<{ readonly contentType: string; readonly events: readonly Loose[] }> {
  const headers = { authorization: 'Bearer admin-token', accept }
  return await new Promise((resolve, reject) => {
    const request = httpGet({ host: '127.0.0.1', port, path, ca, headers }, (response) => {
      const events: Loose[] = []
      let rest: Buffer = Buffer.alloc(0)
      const finish = () => resolve({ contentType: response.headers['content-type'] ?? '', events })
      response.on('data', (chunk: Buffer) => {
        const frames = readFrames(Buffer.concat([rest, chunk]))
        rest = frames.rest
        for (const { type, object } of frames.events) {
          const isStatus = readEnvelope(object).type.kind === 'Status'
          events.push({ type, object: readDocument(object, isStatus ? 'meta.v1.Status' : message) })
        }
        if (!done(events)) return
        finish()
        request.destroy()
      })
      response.on('end', finish)
      response.on('error', reject)
    })
    request.on('error', reject)
  })
}

/**
 * Returns the differences between the JSON form and the Protobuf form of a document. Every JSON member must be equal in
 * both. Additional Protobuf members must be zero, because Protobuf encodes zero values.
 */
export function differencesFromJson(json: Loose, protobuf: Loose, path = ''): string[] {
  if (Array.isArray(json)) {
    if (!Array.isArray(protobuf ?? []) || json.length !== (protobuf ?? []).length)
      return [`${path}: ${JSON.stringify(json)} became ${JSON.stringify(protobuf)}`]
    return json.flatMap((item, i) => differencesFromJson(item, protobuf[i], `${path}[${i}]`))
  }
  if (typeof json === 'object' && json !== null) {
    const members = Object.entries(json).flatMap(([key, value]) =>
      differencesFromJson(
        value,
        isObject(protobuf) && Object.hasOwn(protobuf, key) ? protobuf[key] : undefined,
        `${path}.${key}`,
      ),
    )
    const others = Object.entries(isObject(protobuf) ? protobuf : {}).filter(([key]) => !Object.hasOwn(json, key))
    const unmeant = others.filter(([, value]) => !isZero(value))
    const missing = isObject(protobuf) || Object.keys(json).length === 0 ? [] : [`${path} is missing`]
    return [...members, ...unmeant.map(([key, value]) => `${path}.${key} is ${JSON.stringify(value)}`), ...missing]
  }
  if (json === null) return protobuf === undefined ? [] : [`${path}: null became ${JSON.stringify(protobuf)}`]
  return json === protobuf ? [] : [`${path}: ${JSON.stringify(json)} became ${JSON.stringify(protobuf)}`]
}

function isObject(value: Loose): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isZero(value: Loose): boolean {
  if (value === '' || value === 0 || value === false) return true
  return isObject(value) && Object.values(value).every(isZero)
}
