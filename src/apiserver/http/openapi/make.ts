/**
 * Makes the bytes of a document from its blocks. Loaded when the first is asked for, with all that it needs. A document
 * of all kinds takes a tenth of a second: it is made in slices, and what has not changed since is not made again.
 */
import { stringifyJson } from '../../../api/codec/json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { Blocks, inSlices } from './blocks.ts'
import type { Described, GroupVersion } from './group-version.ts'
import { bearerToken, type DocumentText, type NamedPart } from './parts.ts'
import { encodeV2 } from './protobuf-v2.ts'
import { headV2, partsV2 } from './v2.ts'
import { partsV3 } from './v3.ts'

/** Makes the documents of version 2, and keeps their blocks. */
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
    const [before, after] = [`${opened({ swagger, info })},"paths":{`, `},${JSON.stringify(rest).slice(1)}`]
    return [before, ...inOrder(paths), '},"definitions":{', ...inOrder(types.values()), after]
  }

  /** The Protobuf form, which kubectl asks for. */
  async protobuf(described: Described): Promise<DocumentText> {
    const { paths, types } = await this.#protobuf.join(described)
    return [encodeV2(headV2(described)), ...paths, ...types.values()]
  }
}

/** One version of a group as a document of OpenAPI v3. */
export async function makeV3Json(described: Described, version: GroupVersion): Promise<DocumentText> {
  const { head, paths, types } = partsV3(described, version)
  const pathTexts = await inSlices(paths, memberText)
  const typeTexts = await inSlices(types, memberText)
  const components = opened({ securitySchemes: { BearerToken: bearerToken } })
  const middle = `},"components":${components},"schemas":{`
  return [`${opened(head)},"paths":{`, ...inOrder(pathTexts), middle, ...inOrder(typeTexts), '}}}']
}

/** The members of a map in the byte order of their names, with commas between them. */
function inOrder(members: Iterable<string>): string[] {
  return [...members].sort().map((member, i) => (i === 0 ? member : `,${member}`))
}

/** A member of a JSON object. */
function memberText([name, value]: NamedPart): string {
  return `${JSON.stringify(name)}:${stringifyJson(value)}`
}

/** A JSON object that is still open for more members. */
function opened(object: JsonObject): string {
  return JSON.stringify(object).slice(0, -1)
}
