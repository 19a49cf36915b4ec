/** The forms of an answer. */
import { stringifyJson } from '../codec/json.ts'
import type { Status } from '../model/api-error.ts'
import type { JsonObject } from '../model/json.ts'
import { type ApiObject, asJson } from '../model/object.ts'
import type { Exchange } from './exchange.ts'

export const jsonType = 'application/json'
const textType = 'text/plain; charset=utf-8'

export function sendStatus(exchange: Exchange, code: number, status: Status): void {
  exchange.send(code, jsonType, Buffer.from(stringifyJson(status as unknown as JsonObject)))
}

/** An object that was just written. */
export function sendObject(exchange: Exchange, code: number, object: ApiObject): void {
  sendBytes(exchange, code, Buffer.from(stringifyJson(asJson(object))))
}

/** An object's JSON as the cache holds it. */
export function sendBytes(exchange: Exchange, code: number, json: Buffer): void {
  exchange.send(code, jsonType, json)
}

export function sendText(exchange: Exchange, code: number, text: string): void {
  exchange.send(code, textType, Buffer.from(text))
}
