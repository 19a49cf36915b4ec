/**
 * Configuration files specified by flags. Each file consists of one YAML document. The functions that read documents
 * throw `ConfigurationFault` for invalid content. Errors name the flag, the file, and the line and column of the fault.
 */
import type { YamlPath } from '../../api/codec/yaml-location.ts'
import type { Json } from '../../api/json/json.ts'
import { ConfigurationFault } from '../../api/schema/read-configuration.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { messageOf } from '../../base/text/errors.ts'
import { readFlagFile } from './read-flag-file.ts'

const maxBytes = 1024 * 1024

/** Reads and parses a flag's file and passes the document to `read`. Throws UsageError. */
export type ReadDocument = <T>(flag: string, file: string, read: (document: Json) => T) => T

/** Loads the YAML parser. Returns a function that reads files synchronously. */
export async function loadDocumentReader(): Promise<ReadDocument> {
  const [{ parseYaml }, { locateYamlValue }] = await Promise.all([
    import('../../api/codec/yaml.ts'),
    import('../../api/codec/yaml-location.ts'),
  ])
  return (flag, file, read) => {
    const text = readFlagFile(flag, file)
    const fail = (place: string, message: string) => new UsageError(`--${flag}: ${file}${place}: ${message}`)
    let document: Json
    try {
      const { value, duplicates } = parseYaml(Buffer.from(text), maxBytes)
      if (duplicates.length > 0) throw new ConfigurationFault(duplicates[0]!, `the field ${duplicates[0]} occurs twice`)
      document = value
    } catch (error) {
      if (!(error instanceof ConfigurationFault)) throw fail('', messageOf(error).replace(/^the body /, 'the file '))
      throw fail(placeOf(text, error.path), error.message)
    }
    try {
      return read(document)
    } catch (error) {
      if (!(error instanceof ConfigurationFault)) throw error
      throw fail(placeOf(text, error.path), error.message)
    }
  }

  function placeOf(text: string, path: string): string {
    const position = locateYamlValue(text, yamlPath(path))
    return position === undefined ? '' : `:${position.line}:${position.column}`
  }
}

/**
 * Splits a path such as `jwt[0].issuer.url` into its parts. Keys of configuration files contain neither dots nor
 * brackets.
 */
function yamlPath(path: string): YamlPath {
  return path
    .split(/[.[\]]/)
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}
