/** The forms in which an answer can be written. Each starts from the JSON that the server holds already. */
import { type Aside, largeDocument } from '../codec/aside.ts'
import { parseOwnJson } from '../codec/json.ts'

export interface Form {
  readonly mediaType: string
  /**
   * From compact JSON to this form; undefined when that is the form. Loads what it needs on first use. What is large is
   * converted aside, where there is such a place.
   */
  readonly encode: ((json: Buffer, aside: Aside | undefined) => Promise<Buffer>) | undefined
}

export const jsonForm: Form = { mediaType: 'application/json', encode: undefined }

/** Indented, for people. */
export const prettyForm: Form = {
  mediaType: 'application/json',
  encode: async (json, aside) => {
    if (aside !== undefined && json.length > largeDocument) return await aside.write('indent', json)
    const { indentJson } = await import('../codec/indent-json.ts')
    return Buffer.from(indentJson(parseOwnJson(json)))
  },
}

export const yamlForm: Form = {
  mediaType: 'application/yaml',
  encode: async (json, aside) => {
    if (aside !== undefined && json.length > largeDocument) return await aside.write('write YAML', json)
    const { stringifyYaml } = await import('../codec/write-yaml.ts')
    return Buffer.from(stringifyYaml(parseOwnJson(json)))
  },
}
