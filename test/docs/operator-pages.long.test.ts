/** Runs the commands of the pages for operators. */
import { operatorPages } from './pages.ts'
import { testPages } from './run-page.ts'

testPages(operatorPages)
