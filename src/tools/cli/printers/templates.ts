/** Fills JSONPath and Go templates with objects. Each language is loaded on demand. */
import type { Json } from '../../../api/json/json.ts'
import { escapeText } from './escape.ts'
import { type Output, outputOf, type TemplateOutput } from './output.ts'

export interface TemplateOptions {
  readonly allowMissingTemplateKeys: boolean
}

/** Loads and compiles the template of the selected output. Throws UsageError if the template is invalid. */
export async function readyTemplate({
  isTerminal,
  ...options
}: {
  readonly output: Output
  readonly template: string
  readonly isTerminal: boolean
}): Promise<Output> {
  const output = outputOf(options)
  if (output.form !== 'template') return output
  await parse(output)
  return { ...output, isTerminal }
}

/** Fills a parsed template with a value. */
type Fill = (value: Json, how: { readonly missingKeys: 'allow' | 'refuse' }) => string | Promise<string>

/** Fills a template. Throws UsageError if the template refers to a missing key and missing keys are not allowed. */
export async function fillTemplate(
  output: TemplateOutput,
  value: Json,
  { allowMissingTemplateKeys }: TemplateOptions,
): Promise<string> {
  const fill = await parse(output)
  const filled = await fill(value, { missingKeys: allowMissingTemplateKeys ? 'allow' : 'refuse' })
  return output.isTerminal ? escapeText(filled) : filled
}

async function parse({ language, text = '' }: TemplateOutput): Promise<Fill> {
  if (language === 'go-template') {
    const { readGoTemplate } = await import('./go-template.ts')
    return readGoTemplate(text)
  }
  const jsonpath = await import('../../../api/jsonpath/templates.ts')
  const parts = jsonpath.parseTemplate(text)
  if (language === 'jsonpath') return (value, how) => jsonpath.fillTemplate(parts, value, how)
  const { printDocument } = await import('./objects.ts')
  return async (value, how) => await printDocument(jsonpath.templateValues(parts, value, how), 'json')
}
