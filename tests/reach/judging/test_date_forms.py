from __future__ import annotations

import pytest

from prm.reach.judging.date_forms import with_iso_dates, without_year
from prm.reach.judging.normal_forms import tokens_of


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-19",
        "2024/5/19",
        "2024.05.19",
        "May 19, 2024",
        "May 19th 2024",
        "19 May 2024",
        "the 19th of May, 2024",
        "19-May-2024",
        "2024年5月19日",
        "２０２４年５月１９日",
        "19.05.2024",
        "05/19/2024",
    ],
)
def test_a_date_is_the_same_however_it_is_written(text: str) -> None:
    assert "2024-05-19" in tokens_of(text)


@pytest.mark.parametrize("text", ["May 19", "on May 19th.", "19 May", "5月19日", "Sept. 3"])
def test_a_date_without_its_year_says_so(text: str) -> None:
    assert tokens_of(text)[-1] in ("xxxx-05-19", "xxxx-09-03")


def test_a_date_whose_day_and_month_could_be_swapped_has_both_readings() -> None:
    assert tokens_of("05/06/2024") == ("2024-05-06", "2024-06-05")


@pytest.mark.parametrize("text", ["99/99/2024", "2024-13-01", "5 people", "may 50 come", "1.2.3.4", "12-345-6789"])
def test_what_is_no_date_stays_as_it_is(text: str) -> None:
    assert with_iso_dates(text) == text


@pytest.mark.parametrize(("text", "time"), [("5 pm", "17:00"), ("5:30pm", "17:30"), ("12 a.m.", "00:00")])
def test_clock_times_are_in_24_hours(text: str, time: str) -> None:
    assert with_iso_dates(text).strip() == time


def test_the_time_of_an_iso_date_stands_apart_and_full_minutes_have_no_seconds() -> None:
    assert tokens_of("2024-05-19T15:00:00") == ("2024-05-19", "15:00")


def test_only_a_date_with_a_year_has_a_form_without_it() -> None:
    assert without_year("2024-05-19") == ("2024", "xxxx-05-19")
    assert without_year("xxxx-05-19") is None
    assert without_year("lamp-4") is None
