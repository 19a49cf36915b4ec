/** Reads stages with templates, and parses the output of the templates. */
import { parseYamlDocuments } from '../../../api/codec/yaml-text.ts'
import type { Json } from '../../../api/json/json.ts'
import { readStage } from './read-stage.ts'
import type { PatchTemplate, Stage } from './stage.ts'
import { StageError } from './stage-error.ts'
import { compileTemplate } from './template.ts'
import { templateFunctionNames } from './template-functions.ts'

/** Maximum size of a patch that a template produces, in bytes. Real statuses are much smaller. */
const maxPatchBytes = 1024 * 1024

/** Parses a stage and compiles its templates. Throws StageError. */
export function readTemplatedStage(value: Json): Stage {
  return readStage(value, { compileTemplate: compilePatch })
}

function compilePatch(text: string): PatchTemplate {
  const fill = compileTemplate(text, templateFunctionNames)
  return (object, functions) => parsePatch(fill(object, functions))
}

/** Parses the output of a template, which is YAML. */
function parsePatch(text: string): Json {
  const [first, ...more] = parseYamlDocuments(text, maxPatchBytes)
  if (more.length > 0) throw new StageError('the output of the template contains several documents')
  return first?.value ?? {}
}
