/** Converts the output of a stage's template to a patch that fails if the object has changed in the meantime. */
import { isObject, type JsonObject } from '../../../api/json/json.ts'
import { asJson, type ObjectBase } from '../../../api/model/object.ts'
import type { Patch } from '../../../client/requests/options.ts'
import type { StagePatch } from './stage.ts'
import { StageError } from './stage-error.ts'
import type { PlaceFunctions } from './template.ts'

/** Executes the template with the object as its input. Throws StageError if the output is not a patch. */
export function toPatch(
  { type, root, template }: Pick<StagePatch, 'type' | 'root' | 'template'>,
  object: ObjectBase,
  functions: PlaceFunctions,
): Patch {
  const output = template(asJson(object), functions)
  const { resourceVersion } = object.metadata
  if (type === 'json') {
    if (!Array.isArray(output) || !output.every(isObject))
      throw new StageError('the output of the template is not a list of JSON patch operations')
    const operations = root === '' ? output : output.map((each) => below(root, each))
    return { json: [{ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }, ...operations] }
  }
  const content = root === '' ? output : { [root]: output }
  if (!isObject(content) || (root !== '' && !isObject(output)))
    throw new StageError('the output of the template is not an object')
  const { metadata = {} } = content
  if (!isObject(metadata)) throw new StageError('metadata in the output of the template is not an object')
  const patch = { ...content, metadata: { ...metadata, resourceVersion } }
  return type === 'merge' ? { merge: patch } : { strategic: patch }
}

/** Returns the JSON patch operation with the field `root` prepended to its paths. */
function below(root: string, operation: JsonObject): JsonObject {
  const paths = ['path', 'from'].filter((name) => typeof operation[name] === 'string')
  return { ...operation, ...Object.fromEntries(paths.map((name) => [name, `/${root}${operation[name]}`])) }
}
