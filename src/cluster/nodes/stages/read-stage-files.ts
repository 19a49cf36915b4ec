/**
 * Reads files of Stage objects in YAML or JSON, which may contain several documents and Lists. Other kinds are
 * rejected.
 */

import { parseYamlDocuments } from '../../../api/codec/yaml-text.ts'
import { isObject, type Json } from '../../../api/json/json.ts'
import { messageOf } from '../../../base/text/errors.ts'
import { kwokApiVersion } from '../kwok/kinds.ts'
import { readTemplatedStage } from './read-templated-stage.ts'
import type { Stage } from './stage.ts'
import { StageError } from './stage-error.ts'

const maxFileBytes = 4 * 1024 * 1024
const maxStages = 1000

/**
 * Reads stages from files. `read` returns the text of a file, or throws an error with the reason. Throws StageError
 * with the file name if the contents are invalid.
 */
export function readStageFiles(files: readonly string[], read: (file: string) => string): Stage[] {
  const stages = files.flatMap((file) => {
    const text = read(file)
    try {
      return documentsOf(text).map(readTemplatedStage)
    } catch (error) {
      throw new StageError(`${file}: ${messageOf(error)}`, { cause: error })
    }
  })
  if (stages.length > maxStages) throw new StageError(`there are more than ${maxStages} stages`)
  return stages
}

function documentsOf(text: string): Json[] {
  if (text.length > maxFileBytes) throw new StageError(`the file is longer than ${maxFileBytes} bytes`)
  return parseYamlDocuments(text, maxFileBytes)
    .map(({ value }) => value)
    .filter((value) => value !== null)
    .flatMap((value) =>
      isObject(value) && value.kind === 'List' && Array.isArray(value.items) ? value.items : [value],
    )
    .map(assertStage)
}

function assertStage(value: Json): Json {
  const { apiVersion, kind } = isObject(value) ? value : {}
  if (kind !== 'Stage' || typeof apiVersion !== 'string' || !apiVersion.startsWith(kwokApiVersion))
    throw new StageError(
      `the file contains a ${String(kind)} of ${String(apiVersion)} instead of a Stage of ${kwokApiVersion}`,
    )
  return value
}
