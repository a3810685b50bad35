import { isSlow, pages } from "../support/page.ts";
import { testPage } from "../support/page-tests.ts";

// Pages about tools that take seconds to start.
for (const page of pages()) if (isSlow(page)) testPage(page);
