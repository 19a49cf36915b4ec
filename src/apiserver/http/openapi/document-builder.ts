/**
 * Encodes OpenAPI documents in JSON and Protobuf. This module and its dependencies are loaded only when the first
 * document is requested. A document of all kinds takes about 100 ms to build, so the work yields to other requests, and
 * unchanged blocks come from a cache.
 */
import { stringifyJson } from '../../../api/codec/json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { Blocks, inSlices } from './blocks.ts'
import type { Described, GroupVersion } from './group-version.ts'
import { bearerToken, type DocumentText, type NamedPart } from './parts.ts'
import { encodeV2 } from './protobuf-v2.ts'
import { encodeV3 } from './protobuf-v3.ts'
import { headV2, partsV2 } from './v2.ts'
import { partsV3 } from './v3.ts'

/** Encodes the OpenAPI v2 document in JSON and Protobuf, and caches the encoded blocks. */
export class MakerV2 {
  readonly #json = new Blocks<string>({ partsOf: partsV2, encodePath: memberText, encodeType: memberText })
  readonly #protobuf = new Blocks<Buffer>({
    partsOf: partsV2,
    encodePath: ([name, value]) => encodeV2({ paths: { [name]: value } }),
    encodeType: ([name, value]) => encodeV2({ definitions: { [name]: value } }),
  })

  async json(described: Described): Promise<DocumentText> {
    const { paths, types } = await this.#json.join(described)
    const { swagger, info, ...rest } = headV2(described)
    const before = `${opened({ swagger, info })},"paths":{`
    const after = `},${JSON.stringify(rest).slice(1)}`
    return [before, ...sortedNames(paths), '},"definitions":{', ...sortedNames(types.values()), after]
  }

  /** Returns the Protobuf encoding of the document, which kubectl requests. */
  async protobuf(described: Described): Promise<DocumentText> {
    const { paths, types } = await this.#protobuf.join(described)
    return [encodeV2(headV2(described)), ...paths, ...types.values()]
  }
}

/** Builds the Protobuf encoding of the OpenAPI v3 document of one group version. */
export async function makeV3Protobuf(described: Described, version: GroupVersion): Promise<DocumentText> {
  const { head, paths, types } = partsV3(described, version)
  const encodedPaths = await inSlices(paths, ([name, value]) => encodeV3({ paths: { [name]: value } }))
  const encodedTypes = await inSlices(types, ([name, value]) =>
    encodeV3({ components: { schemas: { [name]: value } } }),
  )
  const security = encodeV3({ components: { securitySchemes: { BearerToken: bearerToken } } })
  return [encodeV3(head), ...encodedPaths, ...encodedTypes, security]
}

/** Builds the OpenAPI v3 document of one group version. */
export async function makeV3Json(described: Described, version: GroupVersion): Promise<DocumentText> {
  const { head, paths, types } = partsV3(described, version)
  const pathTexts = await inSlices(paths, memberText)
  const typeTexts = await inSlices(types, memberText)
  const components = opened({ securitySchemes: { BearerToken: bearerToken } })
  const middle = `},"components":${components},"schemas":{`
  return [`${opened(head)},"paths":{`, ...sortedNames(pathTexts), middle, ...sortedNames(typeTexts), '}}}']
}

/**
 * Sorts encoded members of a JSON object by the bytes of their names. Adds a comma before each member but the first.
 */
function sortedNames(members: Iterable<string>): string[] {
  return [...members].sort().map((member, i) => (i === 0 ? member : `,${member}`))
}

/** Returns the text of one member of a JSON object. */
function memberText([name, value]: NamedPart): string {
  return `${JSON.stringify(name)}:${stringifyJson(value)}`
}

/** Returns the text of a JSON object without its closing brace, so that more members can follow. */
function opened(object: JsonObject): string {
  return JSON.stringify(object).slice(0, -1)
}
