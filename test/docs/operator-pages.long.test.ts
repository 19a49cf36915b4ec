/** Runs the commands on the pages for operators. */
import { operatorPages } from './pages.ts'
import { testPages } from './run-page.ts'

testPages(operatorPages)
