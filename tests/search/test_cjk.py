"""Chinese, Japanese and Korean: short queries out of the middle of sentences find the turn they were taken from."""

from __future__ import annotations

import random

import pytest

from agent_raw_rag.config import Settings
from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.ingest.feed import feed_lexical
from agent_raw_rag.models import Role
from agent_raw_rag.search.funnel import Funnel
from agent_raw_rag.store.reader import Scope

DIALOGUES = {
    "zh-TW": """上傳器的重試機制會讓同一張照片出現兩次，所以我們決定拿掉它，改用伺服器端的去重。
登入逾時是因為工作階段的存活時間用分鐘寫入卻用秒讀取，改成統一用秒之後就正常了。
資料庫遷移腳本要先備份再執行，否則欄位改名失敗時沒有辦法復原舊資料。
快取命中率太低的原因是鍵值裡面混入了時間戳記，移除之後回到九成以上。
排程器每天凌晨三點清理暫存檔，但週末的批次作業會和它搶同一把鎖。
前端表單送出前必須驗證電子郵件格式，後端也要再驗證一次避免繞過。
壓縮圖片時保留方向資訊，不然手機直拍的照片會全部躺著。
持續整合環境缺少字型檔，所以產生的報表裡中文變成方框。""",
    "zh-CN": """支付回调偶尔会重复到达，因此订单状态更新必须做成幂等操作。
日志里打印了用户的手机号码，合规审查要求全部脱敏后再落盘。
搜索结果的排序先按相关度，再按发布时间，最后按编号保证稳定。
消息队列积压是因为消费者线程池太小，扩大到十六个之后恢复正常。
配置中心推送失败时服务应该继续使用本地快照，而不是直接退出。
接口限流采用令牌桶算法，突发流量允许超过平均速率一倍。
单元测试依赖真实时钟导致偶发失败，改成注入时钟以后稳定了。
导出表格超过十万行会内存溢出，需要改成流式写入。""",
    "ja": """アップローダーの再送処理をやめたのは、同じ写真が二重に登録される不具合があったからです。
認証トークンの有効期限が切れたときは、自動更新せずにログイン画面へ戻す仕様に決めました。
夜間バッチが失敗した原因は、一時ファイルの削除権限が足りなかったことでした。
検索インデックスの再構築には三時間かかるので、週末に実行する予定です。
画像の縮小処理は並列化すると速くなりますが、メモリ使用量が四倍になります。
エラーメッセージは利用者向けと開発者向けに分けて表示することにしました。
移行手順書には必ず巻き戻しの方法を書いてください。
単体テストが不安定なのは、現在時刻に依存しているためです。""",
    "ko": """업로더에서 재시도를 제거한 이유는 같은 사진이 두 번 저장되는 문제가 있었기 때문입니다.
로그인 세션이 십오 분마다 끊기는 현상은 단위를 분에서 초로 통일해서 해결했습니다.
데이터베이스 이전 작업은 반드시 백업을 만든 다음에 실행해야 합니다.
캐시 적중률이 낮은 원인은 키에 현재 시각이 섞여 들어갔기 때문이었습니다.
배포 파이프라인은 테스트가 모두 통과해야만 다음 단계로 넘어갑니다.
이미지 압축 과정에서 방향 정보를 유지하지 않으면 세로 사진이 눕게 됩니다.
결제 알림이 중복으로 도착해도 주문 상태는 한 번만 바뀌어야 합니다.
검색 결과는 관련도 순으로 정렬하고 같은 점수는 최신 글을 먼저 보여 줍니다.""",
}
PER_SENTENCE = 20


def queries(language: str) -> list[tuple[str, int]]:
    """(two to four characters from inside a sentence, number of its turn)"""
    chance = random.Random(language)
    found = []
    for number, sentence in enumerate(DIALOGUES[language].splitlines(), start=1):
        for _ in range(PER_SENTENCE):
            length = chance.choice((2, 3, 4))
            start = chance.randrange(2, len(sentence) - length - 2)
            query = sentence[start : start + length]
            if not any(mark in query for mark in "，。、 "):
                found.append((query, number))
    return found


@pytest.fixture(scope="module")
def funnel(tmp_path_factory: pytest.TempPathFactory) -> Funnel:
    store = Stored(tmp_path_factory.mktemp("cjk"))
    for language, text in DIALOGUES.items():
        for number, sentence in enumerate(text.splitlines(), start=1):
            store.add_session(f"{language}-{number}", [(Role.USER, sentence, None), (Role.ASSISTANT, "OK.", None)])
    feed_lexical(store.reader, store.home)
    return Funnel(store.home, lambda: store.reader, lambda: None, Settings().search)


@pytest.mark.parametrize("language", DIALOGUES)
def test_two_to_four_characters_from_inside_a_sentence_are_found_among_the_first_three(
    language: str, funnel: Funnel
) -> None:
    reader = funnel.reader()
    asked = queries(language)
    missed = []
    for query, number in asked:
        ranking, chunks = funnel.rank(query, Scope(), reader)
        first = reader.session_rows(chunks[chunk_id].session_id for chunk_id, _ in ranking.order[:3])
        if f"{language}-{number}" not in {row.native for row in first.values()}:
            sources = [row.native for row in first.values()]
            texts = DIALOGUES[language].splitlines()
            if query not in "".join(texts[: number - 1] + texts[number:]):
                missed.append((query, number, sources))
    assert len(asked) >= 30
    assert len(missed) <= len(asked) * 0.05, missed
