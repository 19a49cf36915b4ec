/**
 * Reads files of Stage objects in YAML or JSON. A file may contain several documents, and may contain Lists. Other
 * kinds are rejected.
 */

import { parseYamlDocuments } from '../../../api/codec/yaml-text.ts'
import { isObject, type Json } from '../../../api/json/json.ts'
import { messageOf } from '../../../base/text/errors.ts'
import { kwokApiVersion } from '../kwok/kinds.ts'
import { readTemplatedStage } from './read-templated-stage.ts'
import { isStageOf, type Stage } from './stage.ts'
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
      return documentsOf(text).map(readFileStage)
    } catch (error) {
      throw new StageError(`${file}: ${messageOf(error)}`, { cause: error })
    }
  })
  if (stages.length > maxStages) throw new StageError(`there are more than ${maxStages} stages`)
  return stages
}

/** Reads a stage that acts as the agents of the nodes, which may write only pods and nodes. Throws StageError. */
function readFileStage(value: Json): Stage {
  const stage = readTemplatedStage(value)
  const { resource, next } = stage
  if (!isStageOf(stage, 'Pod') && !isStageOf(stage, 'Node'))
    throw new StageError(`stage ${stage.name}: stages in files support only pods and nodes, not ${resource.kind}`)
  if (next.patches.some(({ subresource, impersonates }) => subresource !== 'status' || impersonates !== undefined))
    throw new StageError(`stage ${stage.name}: patches of stages in files support only the subresource "status"`)
  return stage
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
      `the file contains an object of the kind ${String(kind)} in ${String(apiVersion)} instead of Stage in ${kwokApiVersion}`,
    )
  return value
}
